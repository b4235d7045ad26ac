//! Refunds: never above what was captured, and the cards that misbehave.

use reqwest::StatusCode;
use tempfile::tempdir;

use crate::client::{Answer, PATIENCE, Sim};

async fn refund(sim: &Sim, intent: &str, key: &str) -> Answer {
    let form = [
        ("payment_intent", intent),
        ("amount", "1000"),
        ("metadata[refund_id]", "r1"),
    ];
    sim.post("/v1/refunds", key, &form).await
}

async fn statuses(sim: &Sim, intent: &str) -> Vec<String> {
    let listed = sim
        .get(&format!("/v1/refunds?payment_intent={intent}"))
        .await;
    let refunds = listed.body["data"].as_array().unwrap().clone();
    assert!(
        refunds
            .iter()
            .all(|refund| refund["metadata"]["refund_id"] == "r1")
    );
    refunds
        .iter()
        .map(|refund| refund["status"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn money_goes_back_once() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let intent = sim.charged("p1", "pm_card_visa").await;
    assert_eq!(
        refund(&sim, &intent, "p1").await.text("/status"),
        "succeeded"
    );
    assert!(refund(&sim, &intent, "p1").await.replayed);
    let above = refund(&sim, &intent, "p1:r1").await;
    assert_eq!(above.text("/error/code"), "charge_already_refunded");

    let books = sim.get("/sim/books").await.body;
    assert_eq!(books["refunded"]["eur"], 1000);
    assert_eq!(books["refunds"].as_array().unwrap().len(), 1);
    assert_eq!(books["refunds"][0]["idempotency_key"], "p1");
    assert_eq!(books["refunds"][0]["refund_id"], "r1");
}

#[tokio::test]
async fn nothing_is_refunded_that_was_not_captured() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let intent = sim.intent("p1", "pm_card_visa").await;
    assert_eq!(
        refund(&sim, &intent, "p1").await.status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        refund(&sim, "pi_none", "p2").await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_refund_that_acts_and_times_out_answers_the_repeat() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let intent = sim.charged("p1", "pm_sim_refund_acts_then_times_out").await;
    let form = [
        ("payment_intent", &*intent),
        ("amount", "1000"),
        ("metadata[refund_id]", "r1"),
    ];
    sim.post_in_vain("/v1/refunds", "p1", &form).await;
    assert_eq!(statuses(&sim, &intent).await, ["succeeded"]);
    assert!(refund(&sim, &intent, "p1").await.replayed);
    assert_eq!(statuses(&sim, &intent).await, ["succeeded"]);
}

#[tokio::test]
async fn a_failed_refund_stays_failed_under_its_key_and_another_key_succeeds() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let intent = sim.charged("p1", "pm_sim_refund_fails_once").await;
    assert_eq!(refund(&sim, &intent, "p1").await.text("/status"), "failed");
    assert_eq!(refund(&sim, &intent, "p1").await.text("/status"), "failed");
    assert_eq!(
        refund(&sim, &intent, "p1:r1").await.text("/status"),
        "succeeded"
    );
    assert_eq!(statuses(&sim, &intent).await, ["succeeded", "failed"]);
}

#[tokio::test]
async fn a_disputed_charge_is_never_refunded() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let intent = sim.charged("p1", "pm_sim_refund_refused").await;
    for key in ["p1", "p1:r1"] {
        assert_eq!(
            refund(&sim, &intent, key).await.text("/error/code"),
            "charge_disputed"
        );
    }
    assert!(statuses(&sim, &intent).await.is_empty());
}

#[tokio::test]
async fn a_pending_refund_arrives_by_itself() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let intent = sim.charged("p1", "pm_sim_refund_pending").await;
    assert_eq!(refund(&sim, &intent, "p1").await.text("/status"), "pending");
    // It settles by the simulator's clock alone, a restart between.
    let sim = sim.restart(folder.path()).await;
    let wait = async {
        while statuses(&sim, &intent).await != ["succeeded"] {
            tokio::time::sleep(PATIENCE / 10).await;
        }
    };
    tokio::time::timeout(PATIENCE * 20, wait).await.unwrap();
}
