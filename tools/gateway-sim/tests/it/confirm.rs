//! Every card: what a confirm answers, what it does, and what a repeat under its key gets.

use std::time::Duration;

use reqwest::StatusCode;
use tempfile::tempdir;

use crate::client::{Sim, cancel, confirm};

#[tokio::test]
async fn a_good_card_is_charged_once_and_the_books_say_so() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let id = sim.charged("p1", "pm_card_visa").await;

    let again = sim.post(&confirm(&id), "charge:p1", &[]).await;
    assert!(again.replayed);
    assert_eq!(again.text("/status"), "succeeded");
    let other_key = sim.post(&confirm(&id), "another", &[]).await;
    assert_eq!(
        other_key.text("/error/code"),
        "payment_intent_unexpected_state"
    );
    assert_eq!(other_key.text("/error/payment_intent/status"), "succeeded");

    let books = sim.get("/sim/books").await.body;
    assert_eq!(books["captures"], 1);
    assert_eq!(books["captured"]["eur"], 1000);
    assert_eq!(books["charges"][0]["idempotency_key"], "charge:p1");
    assert_eq!(books["intents"][0]["payment_id"], "p1");
}

#[tokio::test]
async fn declined_cards_answer_402_again_and_again() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let cards = [
        ("p1", "pm_card_chargeDeclined", "generic_decline"),
        (
            "p2",
            "pm_card_chargeDeclinedInsufficientFunds",
            "insufficient_funds",
        ),
    ];
    for (payment, card, decline_code) in cards {
        let id = sim.intent(payment, card).await;
        let key = format!("charge:{payment}");
        for replayed in [false, true] {
            let declined = sim.post(&confirm(&id), &key, &[]).await;
            assert_eq!(declined.status, StatusCode::PAYMENT_REQUIRED);
            assert_eq!(declined.text("/error/code"), "card_declined");
            assert_eq!(declined.text("/error/decline_code"), decline_code);
            assert_eq!(declined.replayed, replayed);
        }
    }
    assert_eq!(sim.captures().await, 0);
}

#[tokio::test]
async fn a_confirm_that_acts_and_times_out_answers_the_repeat() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let id = sim.intent("p1", "pm_sim_confirm_acts_then_times_out").await;
    sim.post_in_vain(&confirm(&id), "charge:p1", &[]).await;
    assert_eq!(sim.captures().await, 1);
    let again = sim.post(&confirm(&id), "charge:p1", &[]).await;
    assert!(again.replayed);
    assert_eq!(again.text("/status"), "succeeded");
    assert_eq!(sim.captures().await, 1);
}

#[tokio::test]
async fn a_confirm_that_times_out_without_acting_acts_when_repeated() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let id = sim.intent("p1", "pm_sim_confirm_times_out").await;
    sim.post_in_vain(&confirm(&id), "charge:p1", &[]).await;
    assert_eq!(sim.captures().await, 0);

    // Which try is the first must survive a restart.
    let sim = sim.restart(folder.path()).await;
    let again = sim.post(&confirm(&id), "charge:p1", &[]).await;
    assert!(!again.replayed);
    assert_eq!(again.text("/status"), "succeeded");
    assert_eq!(sim.captures().await, 1);
}

#[tokio::test]
async fn a_late_confirm_holds_its_key_and_then_acts() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let id = sim.intent("p1", "pm_sim_confirm_acts_late").await;
    sim.post_in_vain(&confirm(&id), "charge:p1", &[]).await;
    let busy = sim.post(&confirm(&id), "charge:p1", &[]).await;
    assert_eq!(busy.status, StatusCode::CONFLICT);
    assert_eq!(busy.text("/error/code"), "idempotency_key_in_use");

    eventually(async || sim.captures().await == 1).await;
    assert!(sim.post(&confirm(&id), "charge:p1", &[]).await.replayed);
}

#[tokio::test]
async fn a_cancel_fences_a_late_confirm() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let id = sim.intent("p1", "pm_sim_confirm_acts_late").await;
    sim.post_in_vain(&confirm(&id), "charge:p1", &[]).await;
    assert_eq!(
        sim.post(&cancel(&id), "cancel:p1", &[])
            .await
            .text("/status"),
        "canceled"
    );

    // Once its key is free again, the late confirm has had its turn.
    eventually(async || {
        sim.post(&confirm(&id), "charge:p1", &[]).await.status != StatusCode::CONFLICT
    })
    .await;
    let late = sim.post(&confirm(&id), "charge:p1", &[]).await;
    assert_eq!(late.text("/error/payment_intent/status"), "canceled");
    assert_eq!(sim.captures().await, 0);
}

#[tokio::test]
async fn a_held_confirm_waits_for_its_release() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let id = sim.intent("p1", "pm_sim_confirm_held").await;
    sim.post_in_vain(&confirm(&id), "charge:p1", &[]).await;
    assert_eq!(sim.captures().await, 0);
    assert_eq!(
        sim.post("/sim/release/p1", "r", &[]).await.status,
        StatusCode::OK
    );
    eventually(async || sim.captures().await == 1).await;
}

#[tokio::test]
async fn a_cancel_ends_a_held_confirm() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let id = sim.intent("p1", "pm_sim_confirm_held").await;
    sim.post_in_vain(&confirm(&id), "charge:p1", &[]).await;
    assert_eq!(
        sim.post(&cancel(&id), "cancel:p1", &[])
            .await
            .text("/status"),
        "canceled"
    );
    eventually(async || {
        let late = sim.post(&confirm(&id), "charge:p1", &[]).await;
        late.text("/error/payment_intent/status") == "canceled"
    })
    .await;
    assert_eq!(sim.captures().await, 0);
}

#[tokio::test]
async fn a_500_stays_under_its_key_and_the_intent_tells_the_truth() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let cards = [
        ("p1", "pm_sim_500_stored", "requires_confirmation"),
        ("p2", "pm_sim_500_stored_acts", "succeeded"),
    ];
    for (payment, card, truth) in cards {
        let id = sim.intent(payment, card).await;
        for replayed in [false, true] {
            let failed = sim
                .post(&confirm(&id), &format!("charge:{payment}"), &[])
                .await;
            assert_eq!(failed.status, StatusCode::INTERNAL_SERVER_ERROR);
            assert_eq!(failed.replayed, replayed);
        }
        let intent = sim.get(&format!("/v1/payment_intents/{id}")).await;
        assert_eq!(intent.text("/status"), truth);
    }
}

#[tokio::test]
async fn a_slow_card_is_charged_and_says_so() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    sim.charged("p1", "pm_sim_slow").await;
    assert_eq!(sim.captures().await, 1);
}

#[tokio::test]
async fn a_captured_intent_cannot_be_cancelled() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let id = sim.charged("p1", "pm_card_visa").await;
    let refused = sim.post(&cancel(&id), "cancel:p1", &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert_eq!(refused.text("/error/payment_intent/status"), "succeeded");
}

/// Asks until the condition holds, for at most 5 s.
async fn eventually(mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), wait)
        .await
        .expect("it never came true");
}
