//! What workers make of silence, of each other, and of what a dead one left.

use std::time::{Duration, Instant};

use tercet_testbed::eventually;

use crate::world::{LEASE, Saga, World, accepted};

#[tokio::test]
async fn a_charge_whose_answer_was_lost_is_asked_again_and_taken_once() {
    let (world, app) = World::running().await;
    let saga = Saga::new();
    let card = "pm_sim_confirm_acts_then_times_out";
    accepted(app.charge_payment(saga.charge(card)).await);
    world.reaches(saga.payment, "CHARGED").await;
    let account = world.sim.account(saga.payment).await;
    account.assert_charged_once(saga.payment);
    assert_eq!(account.intents[0]["confirm_calls"], 1, "the key answered");
    assert_eq!(world.event_names(saga.payment).await, ["PaymentCharged"]);
    let calls = world.calls(saga.payment).await;
    assert_eq!(calls[1], "CONFIRM TIMED_OUT");
    assert_eq!(calls.last().unwrap(), "CONFIRM SUCCEEDED");
}

#[tokio::test]
async fn a_charge_that_was_never_made_is_made() {
    let (world, app) = World::running().await;
    for card in ["pm_sim_confirm_times_out", "pm_sim_confirm_acts_late"] {
        let saga = Saga::new();
        accepted(app.charge_payment(saga.charge(card)).await);
        world.reaches(saga.payment, "CHARGED").await;
        let account = world.sim.account(saga.payment).await;
        account.assert_charged_once(saga.payment);
    }
}

#[tokio::test]
async fn a_500_that_is_kept_for_ever_is_looked_behind() {
    let (world, app) = World::running().await;
    let taken = Saga::new();
    let card = "pm_sim_500_stored_acts";
    accepted(app.charge_payment(taken.charge(card)).await);
    world.reaches(taken.payment, "CHARGED").await;
    let account = world.sim.account(taken.payment).await;
    account.assert_charged_once(taken.payment);

    // Nothing was taken, but something might have been: it stays open until somebody wants it back.
    let open = Saga::new();
    accepted(app.charge_payment(open.charge("pm_sim_500_stored")).await);
    world.reaches(open.payment, "OUTCOME_UNKNOWN").await;
    eventually("it is asked again", Duration::from_secs(5), async || {
        (world.calls(open.payment).await.len() > 6).then_some(())
    })
    .await;
    assert_eq!(world.status(open.payment).await.unwrap(), "OUTCOME_UNKNOWN");
    accepted(app.refund_payment(open.refund()).await);
    world.reaches(open.payment, "VOIDED").await;
    world.sim.account(open.payment).await.assert_untouched();
}

#[tokio::test]
async fn a_processor_that_is_away_is_waited_for() {
    let mut world = World::new().await;
    let away = world.instance_at("a", "http://127.0.0.1:9");
    let saga = Saga::new();
    accepted(away.app.charge_payment(saga.charge("pm_card_visa")).await);
    world.abandon(saga.payment).await;
    away.worker.advance_due().await.unwrap();
    assert_eq!(world.status(saga.payment).await.unwrap(), "OUTCOME_UNKNOWN");
    assert_eq!(world.calls(saga.payment).await, ["CREATE_INTENT NO_ANSWER"]);

    // An outage of any length is one event for a waiting undo, not one for each try.
    accepted(away.app.refund_payment(saga.refund()).await);
    for _ in 0..5 {
        world.abandon(saga.payment).await;
        away.worker.advance_due().await.unwrap();
    }
    assert_eq!(world.event_names(saga.payment).await, ["RefundDelayed"]);

    let _app = world.run(world.instance("b"));
    world.reaches(saga.payment, "VOIDED").await;
    let names = world.event_names(saga.payment).await;
    assert_eq!(names, ["RefundDelayed", "PaymentVoided"]);
    world.sim.account(saga.payment).await.assert_untouched();
}

#[tokio::test]
async fn what_a_dead_worker_left_is_claimed_when_its_lease_is_over() {
    let mut world = World::new().await;
    let dead = world.instance("dead");
    let saga = Saga::new();
    accepted(dead.app.charge_payment(saga.charge("pm_card_visa")).await);
    drop(dead);

    let living = world.instance("living");
    let claimed = living.worker.advance_due().await.unwrap();
    assert_eq!(claimed, 0, "the lease still holds");
    let _app = world.run(living);
    world.reaches(saga.payment, "CHARGED").await;
    let account = world.sim.account(saga.payment).await;
    account.assert_charged_once(saga.payment);
}

#[tokio::test]
async fn a_lease_is_kept_for_as_long_as_the_processor_takes() {
    let mut world = World::new().await;
    let patient = world.instance_with("a", &world.sim.url(), 8 * LEASE);
    let app = world.run(patient);
    let other = world.instance("b");
    let saga = Saga::new();
    let card = "pm_sim_confirm_held";
    accepted(app.charge_payment(saga.charge(card)).await);
    let started = Instant::now();
    while started.elapsed() < 3 * LEASE {
        assert_eq!(
            other.worker.advance_due().await.unwrap(),
            0,
            "it was stolen"
        );
        tokio::time::sleep(LEASE / 8).await;
    }
    assert_eq!(world.status(saga.payment).await.unwrap(), "CHARGING");
    world.sim.release(saga.payment).await;
    world.reaches(saga.payment, "CHARGED").await;
    let account = world.sim.account(saga.payment).await;
    assert_eq!(account.intents[0]["confirm_calls"], 1);
}

#[tokio::test]
async fn a_refund_that_was_done_but_not_written_down_is_found_and_not_done_again() {
    let world = World::new().await;
    let instance = world.instance("a");
    let saga = Saga::new();
    accepted(
        instance
            .app
            .charge_payment(saga.charge("pm_card_visa"))
            .await,
    );
    world.abandon(saga.payment).await;
    instance.worker.advance_due().await.unwrap();
    accepted(instance.app.refund_payment(saga.refund()).await);
    world.abandon(saga.payment).await;
    instance.worker.advance_due().await.unwrap();
    assert_eq!(world.status(saga.payment).await.unwrap(), "REFUNDED");

    forget_refund(&world, saga).await;
    instance.worker.advance_due().await.unwrap();
    assert_eq!(world.status(saga.payment).await.unwrap(), "REFUNDED");
    let account = world.sim.account(saga.payment).await;
    account.assert_refunded_once(saga.payment, &saga.payment.to_string());
    assert_eq!(
        account.intents[0]["refund_calls"], 1,
        "it was found in the list"
    );
}

/// The row as a worker left it that died between the processor's answer and its own transaction.
async fn forget_refund(world: &World, saga: Saga) {
    let mut tx = world.database.pool().begin().await.unwrap();
    for sql in [
        "UPDATE payments SET status = 'REFUNDING', refunded_minor = 0, version = 1, attempts = 1,
                next_attempt_at = now(), lease_until = '-infinity' WHERE payment_id = $1",
        "UPDATE refunds SET status = 'OPEN' WHERE payment_id = $1",
        "UPDATE command_guards SET outcome = NULL WHERE direction = 'BACKWARD' AND $1 IS NOT NULL",
        "DELETE FROM outbox_pending WHERE aggregate_id = $1::text AND aggregate_version = 2",
        "DELETE FROM outbox_events WHERE aggregate_id = $1::text AND aggregate_version = 2",
    ] {
        sqlx::query(sql)
            .bind(saga.payment)
            .execute(&mut *tx)
            .await
            .unwrap();
    }
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn two_workers_on_one_refund_give_back_once_and_tell_once() {
    let world = World::new().await;
    let (first, second) = (world.instance("a"), world.instance("b"));
    let saga = Saga::new();
    accepted(first.app.charge_payment(saga.charge("pm_card_visa")).await);
    world.abandon(saga.payment).await;
    first.worker.advance_due().await.unwrap();
    accepted(first.app.refund_payment(saga.refund()).await);

    for _ in 0..10 {
        world.abandon(saga.payment).await;
        let stolen = async {
            // The lease of whoever was first is taken away while it is at the processor.
            world
                .execute(
                    "UPDATE payments SET lease_until = '-infinity', next_attempt_at = now()
                      WHERE payment_id = $1 AND status = 'REFUNDING'",
                    saga.payment,
                )
                .await;
            second.worker.advance_due().await
        };
        let (one, two) = tokio::join!(first.worker.advance_due(), stolen);
        one.unwrap();
        two.unwrap();
        if world.status(saga.payment).await.unwrap() == "REFUNDED" {
            break;
        }
    }
    assert_eq!(world.status(saga.payment).await.unwrap(), "REFUNDED");
    let account = world.sim.account(saga.payment).await;
    account.assert_refunded_once(saga.payment, &saga.payment.to_string());
    assert_eq!(account.refunds.len(), 1);
    let names = world.event_names(saga.payment).await;
    let told = names.iter().filter(|name| *name == "PaymentRefunded");
    assert_eq!(told.count(), 1, "{names:?}");
}

#[tokio::test]
async fn a_payment_that_is_refunded_is_not_asked_for_again() {
    let mut world = World::new().await;
    let (first, stale) = (world.instance("first"), world.instance("stale"));
    let saga = Saga::new();
    accepted(first.app.charge_payment(saga.charge("pm_card_visa")).await);
    world.abandon(saga.payment).await;
    first.worker.advance_due().await.unwrap();
    // Handed over inside `stale`, whose worker does not run yet; the lease ends, another one does it.
    accepted(stale.app.refund_payment(saga.refund()).await);
    world.abandon(saga.payment).await;
    world.instance("b").worker.advance_due().await.unwrap();
    assert_eq!(world.status(saga.payment).await.unwrap(), "REFUNDED");
    let before = world.sim.account(saga.payment).await;
    let calls = world.calls(saga.payment).await;

    let app = world.run(stale);
    // The stale worker is past its queue once it has done something newer.
    let newer = Saga::new().charged(&world, &app, "pm_card_visa").await;
    let after = world.sim.account(saga.payment).await;
    assert_eq!(
        before.intents[0]["refund_calls"],
        after.intents[0]["refund_calls"]
    );
    assert_eq!(world.calls(saga.payment).await, calls);
    let account = world.sim.account(newer.payment).await;
    account.assert_charged_once(newer.payment);
}

#[tokio::test]
async fn past_23_hours_nothing_is_created_and_what_exists_is_found() {
    let world = World::new().await;
    let instance = world.instance("a");
    let (known, unknown) = (Saga::new(), Saga::new());
    let card = "pm_sim_confirm_times_out";
    accepted(instance.app.charge_payment(known.charge(card)).await);
    world.abandon(known.payment).await;
    instance.worker.advance_due().await.unwrap();
    accepted(
        instance
            .app
            .charge_payment(unknown.charge("pm_card_visa"))
            .await,
    );
    for saga in [known, unknown] {
        let sql = "UPDATE payments SET created_at = now() - interval '23 hours 1 minute',
                          gateway_intent_id = NULL WHERE payment_id = $1";
        world.execute(sql, saga.payment).await;
        world.abandon(saga.payment).await;
    }
    assert_eq!(instance.worker.advance_due().await.unwrap(), 2);
    assert_eq!(world.status(known.payment).await.unwrap(), "CHARGED");
    let account = world.sim.account(known.payment).await;
    account.assert_charged_once(known.payment);

    // "Not found" alone closes nothing, not even when the money is not wanted any more.
    accepted(instance.app.refund_payment(unknown.refund()).await);
    instance.worker.advance_due().await.unwrap();
    assert_eq!(
        world.status(unknown.payment).await.unwrap(),
        "OUTCOME_UNKNOWN"
    );
    let account = world.sim.account(unknown.payment).await;
    assert!(account.intents.is_empty());
}

#[tokio::test]
async fn a_refunds_old_key_is_left_only_after_a_look_at_the_list() {
    let world = World::new().await;
    let instance = world.instance("a");
    let away = world.instance_at("away", "http://127.0.0.1:9");
    let saga = Saga::new();
    accepted(
        instance
            .app
            .charge_payment(saga.charge("pm_card_visa"))
            .await,
    );
    world.abandon(saga.payment).await;
    instance.worker.advance_due().await.unwrap();
    accepted(away.app.refund_payment(saga.refund()).await);
    world.abandon(saga.payment).await;
    away.worker.advance_due().await.unwrap();

    let sql = "UPDATE refunds SET key_since = now() - interval '23 hours 1 minute'
                WHERE payment_id = $1";
    world.execute(sql, saga.payment).await;
    world.abandon(saga.payment).await;
    instance.worker.advance_due().await.unwrap();
    assert_eq!(world.status(saga.payment).await.unwrap(), "REFUNDED");
    let account = world.sim.account(saga.payment).await;
    account.assert_refunded_once(saga.payment, &format!("{}:r1", saga.payment));
}
