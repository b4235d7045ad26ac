//! Commands that meet: the second statement sees what the first one waited for.

use sqlx::Row as _;
use std::time::Duration;
use tercet_inbox::guard::admit_forward;
use tercet_payment::{Ack, Error};
use tercet_testbed::eventually;

use crate::world::{Saga, World, accepted};

/// Waits until some session waits for a lock.
async fn somebody_waits(world: &World) {
    eventually("a session waits", Duration::from_secs(2), async || {
        let waiting: i64 = sqlx::query(
            "SELECT count(*) AS n FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
        .fetch_one(world.database.pool())
        .await
        .unwrap()
        .get("n");
        (waiting > 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_charge_that_waited_for_its_twin_sees_it_open() {
    let (world, app) = World::running().await;
    let saga = Saga::new();
    let mut tx = world.database.pool().begin().await.unwrap();
    admit_forward(&mut tx, &saga.key("forward", 1))
        .await
        .unwrap();
    let twin = {
        let app = app.clone();
        let charge = saga.charge("pm_card_visa");
        let mut set = tokio::task::JoinSet::new();
        set.spawn(async move { app.charge_payment(charge).await });
        set
    };
    somebody_waits(&world).await;
    tx.commit().await.unwrap();
    let acks = twin.join_all().await;
    assert!(matches!(acks[0], Ok(Ack::InProgress)), "{acks:?}");
    assert_eq!(world.status(saga.payment).await, None);
}

#[tokio::test]
async fn a_charge_that_waited_for_its_undo_does_nothing() {
    let (world, app) = World::running().await;
    let saga = Saga::new();
    let mut tx = world.database.pool().begin().await.unwrap();
    tercet_inbox::guard::admit_backward(&mut tx, &saga.key("backward", 1))
        .await
        .unwrap();
    let mut charge = tokio::task::JoinSet::new();
    {
        let app = app.clone();
        charge.spawn(async move { app.charge_payment(saga.charge("pm_card_visa")).await });
    }
    somebody_waits(&world).await;
    tx.commit().await.unwrap();
    let acks = charge.join_all().await;
    assert!(matches!(acks[0], Err(Error::AlreadyUndone)), "{acks:?}");
    assert_eq!(world.status(saga.payment).await, None);
}

#[tokio::test]
async fn charge_and_undo_at_once_leave_nothing_taken_whoever_wins() {
    let (world, app) = World::running().await;
    for _ in 0..20 {
        let saga = Saga::new();
        let charge = app.charge_payment(saga.charge("pm_card_visa"));
        let (charged, undone) = tokio::join!(charge, app.refund_payment(saga.refund()));
        accepted(undone);
        let came_first = charged.is_ok();
        let closed = eventually("it is closed", Duration::from_secs(10), async || {
            let status = world.status(saga.payment).await?;
            ["VOIDED", "REFUNDED"]
                .contains(&status.as_str())
                .then_some(status)
        })
        .await;
        let account = world.sim.account(saga.payment).await;
        if closed == "REFUNDED" {
            assert!(came_first);
            account.assert_refunded_once(saga.payment, &saga.payment.to_string());
        } else {
            account.assert_untouched();
        }
        let again = app.refund_payment(saga.refund()).await;
        assert!(matches!(again, Ok(Ack::Decided(_))));
    }
}

#[tokio::test]
async fn who_lost_the_saga_is_not_obeyed() {
    let (world, app) = World::running().await;
    let saga = Saga::new();
    let mut charge = saga.charge("pm_card_visa");
    charge.command.epoch = 3;
    accepted(app.charge_payment(charge).await);
    world.reaches(saga.payment, "CHARGED").await;
    let stale = app.refund_payment(saga.refund()).await;
    assert!(matches!(stale, Err(Error::StaleEpoch { highest: 3 })));
    let stale = app.charge_payment(saga.charge("pm_card_visa")).await;
    assert!(matches!(stale, Err(Error::StaleEpoch { highest: 3 })));
    // What the stale undo began was rolled back: the door is open for the right one.
    let undone: bool = sqlx::query_scalar("SELECT undone FROM command_guards WHERE saga_id = $1")
        .bind(saga.id)
        .fetch_one(world.database.pool())
        .await
        .unwrap();
    assert!(!undone);
}

#[tokio::test]
async fn a_dropped_caller_leaves_no_transaction_behind() {
    let (world, app) = World::running().await;
    for micros in (0..3_000).step_by(150) {
        let saga = Saga::new();
        let call = app.charge_payment(saga.charge("pm_card_visa"));
        let dropped = tokio::time::timeout(Duration::from_micros(micros), call).await;
        drop(dropped);
        // Asking again agrees with whatever the first one did.
        let again = app.charge_payment(saga.charge("pm_card_visa")).await;
        assert!(again.is_ok(), "{again:?}");
        world.reaches(saga.payment, "CHARGED").await;
    }
    let open: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
    )
    .fetch_one(world.database.pool())
    .await
    .unwrap();
    assert_eq!(open, 0);
}
