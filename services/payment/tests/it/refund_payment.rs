use tercet_payment::{Ack, Error};

use crate::{
    sim::LATE,
    world::{AMOUNT, Saga, World, accepted},
};

#[tokio::test]
async fn what_was_taken_goes_back_once_under_the_payments_own_id() {
    let (world, app) = World::running().await;
    let saga = Saga::new().charged(&world, &app, "pm_card_visa").await;
    accepted(app.refund_payment(saga.refund()).await);
    world.reaches(saga.payment, "REFUNDED").await;
    let account = world.sim.account(saga.payment).await;
    account.assert_refunded_once(saga.payment, &saga.payment.to_string());

    let events = world.events(saga.payment).await;
    assert_eq!(events[1].name, "PaymentRefunded");
    assert_eq!(events[1].payload["amountMinor"], AMOUNT.to_string());
    assert_eq!(events[1].payload["changed"], true);
    assert_eq!(events[1].headers["ce_outcome"], "final");
    let command_id = format!("{}:charge-payment:backward", saga.id);
    assert_eq!(events[1].headers["ce_commandid"], command_id);

    let again = app.refund_payment(saga.refund()).await.unwrap();
    assert!(matches!(again, Ack::Decided(kept) if kept.event_id == events[1].event_id));
    let late = app.charge_payment(saga.charge("pm_card_visa")).await;
    assert!(matches!(late, Err(Error::AlreadyUndone)));
    assert_eq!(world.events(saga.payment).await.len(), 2);
}

#[tokio::test]
async fn the_undo_of_a_charge_that_never_came_closes_its_door() {
    let (world, app) = World::running().await;
    let saga = Saga::new();
    accepted(app.refund_payment(saga.refund()).await);
    assert_eq!(world.status(saga.payment).await.unwrap(), "VOIDED");
    let events = world.events(saga.payment).await;
    assert_eq!(events[0].name, "PaymentVoided");
    assert!(
        events[0].payload.get("changed").is_none(),
        "false goes unsaid"
    );

    let late = app.charge_payment(saga.charge("pm_card_visa")).await;
    assert!(matches!(late, Err(Error::AlreadyUndone)));
    let again = app.refund_payment(saga.refund()).await.unwrap();
    assert!(matches!(again, Ack::Decided(kept) if kept.event_id == events[0].event_id));
    world.sim.account(saga.payment).await.assert_untouched();
    assert!(world.calls(saga.payment).await.is_empty());
}

#[tokio::test]
async fn a_declined_payment_has_nothing_to_undo() {
    let (world, app) = World::running().await;
    let saga = Saga::new();
    let card = "pm_card_chargeDeclined";
    accepted(app.charge_payment(saga.charge(card)).await);
    world.reaches(saga.payment, "DECLINED").await;
    accepted(app.refund_payment(saga.refund()).await);
    let events = world.events(saga.payment).await;
    assert_eq!(events[1].name, "PaymentVoided");
    assert!(
        events[1].payload.get("changed").is_none(),
        "false goes unsaid"
    );
    assert_eq!(world.status(saga.payment).await.unwrap(), "DECLINED");
    world.sim.account(saga.payment).await.assert_untouched();
}

#[tokio::test]
async fn an_undo_fences_a_charge_that_hangs() {
    let (world, app) = World::running().await;
    let saga = Saga::new();
    let card = "pm_sim_confirm_held";
    accepted(app.charge_payment(saga.charge(card)).await);
    accepted(app.refund_payment(saga.refund()).await);
    world.reaches(saga.payment, "VOIDED").await;
    world.sim.release(saga.payment).await;
    let account = world.sim.account(saga.payment).await;
    account.assert_untouched();
    assert_eq!(account.intents[0]["status"], "canceled");
    let events = world.events(saga.payment).await;
    let last = events.last().unwrap();
    assert_eq!(last.name, "PaymentVoided");
    assert_eq!(last.payload["changed"], true);
    // The forward command was overtaken and owes nothing.
    assert!(events.iter().all(|event| event.name != "PaymentCharged"));
}

#[tokio::test]
async fn an_undo_of_a_charge_that_acts_late_leaves_nothing_taken() {
    let (world, app) = World::running().await;
    let saga = Saga::new();
    let card = "pm_sim_confirm_acts_late";
    accepted(app.charge_payment(saga.charge(card)).await);
    accepted(app.refund_payment(saga.refund()).await);
    let closed = tercet_testbed::eventually("it is closed", 10 * LATE, async || {
        let status = world.status(saga.payment).await.unwrap();
        ["VOIDED", "REFUNDED"]
            .contains(&status.as_str())
            .then_some(status)
    })
    .await;
    // The late confirm finds the fence, or has come before it and its money goes back.
    tokio::time::sleep(LATE).await;
    let account = world.sim.account(saga.payment).await;
    if closed == "VOIDED" {
        account.assert_untouched();
    } else {
        account.assert_refunded_once(saga.payment, &saga.payment.to_string());
    }
}

#[tokio::test]
async fn an_undo_that_finds_the_money_taken_sends_it_back_in_the_same_breath() {
    let world = World::new().await;
    let instance = world.instance("a");
    let saga = Saga::new();
    let card = "pm_sim_confirm_acts_then_times_out";
    accepted(instance.app.charge_payment(saga.charge(card)).await);
    world.abandon(saga.payment).await;
    assert_eq!(instance.worker.advance_due().await.unwrap(), 1);
    assert_eq!(world.status(saga.payment).await.unwrap(), "OUTCOME_UNKNOWN");

    accepted(instance.app.refund_payment(saga.refund()).await);
    assert_eq!(instance.worker.advance_due().await.unwrap(), 1);
    assert_eq!(world.status(saga.payment).await.unwrap(), "REFUNDED");
    let names = world.event_names(saga.payment).await;
    assert_eq!(names, ["PaymentCharged", "PaymentRefunded"]);
    let account = world.sim.account(saga.payment).await;
    account.assert_refunded_once(saga.payment, &saga.payment.to_string());
}

#[tokio::test]
async fn a_refund_that_fails_is_asked_for_under_the_next_key() {
    let (world, app) = World::running().await;
    let card = "pm_sim_refund_fails_once";
    let saga = Saga::new().charged(&world, &app, card).await;
    accepted(app.refund_payment(saga.refund()).await);
    world.reaches(saga.payment, "REFUNDED").await;
    let account = world.sim.account(saga.payment).await;
    assert_eq!(account.refunds[0]["status"], "failed");
    assert_eq!(
        account.refunds[0]["idempotency_key"],
        saga.payment.to_string()
    );
    account.assert_refunded_once(saga.payment, &format!("{}:r1", saga.payment));
    let names = world.event_names(saga.payment).await;
    assert_eq!(
        names,
        ["PaymentCharged", "RefundDelayed", "PaymentRefunded"]
    );
}

#[tokio::test]
async fn a_refund_whose_answer_is_lost_is_looked_for_before_it_is_asked_again() {
    let (world, app) = World::running().await;
    let card = "pm_sim_refund_acts_then_times_out";
    let saga = Saga::new().charged(&world, &app, card).await;
    accepted(app.refund_payment(saga.refund()).await);
    world.reaches(saga.payment, "REFUNDED").await;
    let account = world.sim.account(saga.payment).await;
    account.assert_refunded_once(saga.payment, &saga.payment.to_string());
    let calls = world.calls(saga.payment).await;
    assert_eq!(calls[2..], ["REFUND TIMED_OUT", "LIST_REFUNDS LISTED"]);
    let events = world.events(saga.payment).await;
    assert_eq!(events[1].name, "RefundDelayed");
    assert_eq!(events[1].headers["ce_outcome"], "info");
    assert_eq!(events[1].payload["reason"], "GATEWAY_UNAVAILABLE");
}

#[tokio::test]
async fn a_pending_refund_is_polled() {
    let (world, app) = World::running().await;
    let card = "pm_sim_refund_pending";
    let saga = Saga::new().charged(&world, &app, card).await;
    accepted(app.refund_payment(saga.refund()).await);
    world.reaches(saga.payment, "REFUNDED").await;
    let account = world.sim.account(saga.payment).await;
    account.assert_refunded_once(saga.payment, &saga.payment.to_string());
    assert_eq!(account.refunds.len(), 1);
}

#[tokio::test]
async fn a_refused_refund_is_told_once_and_tried_for_ever() {
    let world = World::new().await;
    let instance = world.instance("a");
    let saga = Saga::new();
    let card = "pm_sim_refund_refused";
    accepted(instance.app.charge_payment(saga.charge(card)).await);
    world.abandon(saga.payment).await;
    instance.worker.advance_due().await.unwrap();
    accepted(instance.app.refund_payment(saga.refund()).await);
    for _ in 0..4 {
        world.abandon(saga.payment).await;
        instance.worker.advance_due().await.unwrap();
    }
    assert_eq!(world.status(saga.payment).await.unwrap(), "REFUNDING");
    let events = world.events(saga.payment).await;
    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["PaymentCharged", "RefundRefused"]);
    assert_eq!(events[1].headers["ce_outcome"], "info");
    assert_eq!(events[1].payload["reason"], "CHARGE_DISPUTED");
    // It is information: the command stays open, and asking again wakes the work.
    let again = instance.app.refund_payment(saga.refund()).await;
    assert_eq!(again.unwrap(), Ack::InProgress);
    let due: bool =
        sqlx::query_scalar("SELECT next_attempt_at <= now() FROM payments WHERE payment_id = $1")
            .bind(saga.payment)
            .fetch_one(world.database.pool())
            .await
            .unwrap();
    assert!(due, "it is tried now, not after the pause");
}

#[tokio::test]
async fn another_sagas_undo_of_the_same_payment_gives_nothing_back_twice() {
    let (world, app) = World::running().await;
    let saga = Saga::new().charged(&world, &app, "pm_card_visa").await;
    accepted(app.refund_payment(saga.refund()).await);
    world.reaches(saga.payment, "REFUNDED").await;
    let other = Saga {
        id: uuid::Uuid::now_v7(),
        ..saga
    };
    // The other saga never charged it: its tombstone finds the id taken.
    assert!(app.refund_payment(other.refund()).await.is_err());
    let account = world.sim.account(saga.payment).await;
    account.assert_refunded_once(saga.payment, &saga.payment.to_string());
}

/// Status check before the call: a worker takes up a refund that it was handed, but its lease ended
/// long ago and another worker has tried meanwhile. It asks the processor for nothing.
#[tokio::test]
async fn a_worker_that_lost_its_claim_asks_the_processor_for_nothing() {
    let mut world = World::new().await;
    let (late, other) = (world.instance("late"), world.instance("other"));
    let saga = Saga::new();
    accepted(
        other
            .app
            .charge_payment(saga.charge("pm_sim_refund_fails_once"))
            .await,
    );
    world.abandon(saga.payment).await;
    other.worker.advance_due().await.unwrap();
    world.reaches(saga.payment, "CHARGED").await;

    accepted(late.app.refund_payment(saga.refund()).await);
    world.abandon(saga.payment).await;
    other.worker.advance_due().await.unwrap();
    assert_eq!(world.status(saga.payment).await.unwrap(), "REFUNDING");
    let rests =
        "UPDATE payments SET next_attempt_at = now() + interval '1 hour' WHERE payment_id = $1";
    world.execute(rests, saga.payment).await;
    let calls = world.calls(saga.payment).await;

    // What was handed over first is taken up first; once the second is paid, the first was.
    let second = Saga::new();
    accepted(late.app.charge_payment(second.charge("pm_card_visa")).await);
    world.run(late);
    world.reaches(second.payment, "CHARGED").await;
    world.stop().await;
    assert_eq!(world.calls(saga.payment).await, calls);
    assert_eq!(world.status(saga.payment).await.unwrap(), "REFUNDING");
}
