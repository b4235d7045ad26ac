//! Undos: before the forward command, after it, and at the same time.

use sqlx::PgPool;
use tercet_inbox::guard::{
    Admission, BackwardAdmission, CommandKey, Direction, admit_backward, admit_forward,
    keep_outcome,
};
use uuid::Uuid;

use crate::{
    guard::{command, forward, outcome},
    support::{database, waits_for_a_lock},
};

async fn backward(pool: &PgPool, command: &CommandKey) -> BackwardAdmission {
    let mut tx = pool.begin().await.unwrap();
    let admission = admit_backward(&mut tx, command).await.unwrap();
    match admission {
        BackwardAdmission::StaleEpoch { .. } => tx.rollback().await.unwrap(),
        _ => tx.commit().await.unwrap(),
    }
    admission
}

#[tokio::test]
async fn an_undo_that_comes_first_closes_the_door_for_ever() {
    let (database, saga) = (database().await, Uuid::now_v7());
    assert_eq!(
        backward(database.pool(), &command(saga, "backward", 1)).await,
        BackwardAdmission::Fresh { forward_ran: false }
    );
    assert_eq!(
        forward(database.pool(), &command(saga, "forward", 1)).await,
        Admission::Undone
    );
}

#[tokio::test]
async fn an_undo_of_what_ran_knows_that_it_ran_and_stops_late_duplicates() {
    let (database, saga) = (database().await, Uuid::now_v7());
    forward(database.pool(), &command(saga, "forward", 1)).await;
    assert_eq!(
        backward(database.pool(), &command(saga, "backward", 1)).await,
        BackwardAdmission::Fresh { forward_ran: true }
    );
    assert_eq!(
        forward(database.pool(), &command(saga, "forward", 1)).await,
        Admission::Undone
    );
}

#[tokio::test]
async fn an_undo_is_fresh_once_then_open_then_decided() {
    let (database, saga) = (database().await, Uuid::now_v7());
    let refund = command(saga, "backward", 1);
    backward(database.pool(), &refund).await;
    assert_eq!(
        backward(database.pool(), &refund).await,
        BackwardAdmission::Open
    );
    let refunded = outcome("PaymentRefunded");
    let mut conn = database.pool().acquire().await.unwrap();
    keep_outcome(&mut conn, saga, "charge", Direction::Backward, &refunded)
        .await
        .unwrap();
    assert_eq!(
        backward(database.pool(), &refund).await,
        BackwardAdmission::Decided(refunded)
    );
}

/// The forward command is at work in an open transaction: the undo waits for it, and finds that it
/// ran.
#[tokio::test]
async fn an_undo_waits_for_the_forward_command_at_work() {
    let (database, saga) = (database().await, Uuid::now_v7());
    let mut first = database.pool().begin().await.unwrap();
    admit_forward(&mut first, &command(saga, "forward", 1))
        .await
        .unwrap();

    let pool = database.pool().clone();
    let undo = tokio::spawn(async move { backward(&pool, &command(saga, "backward", 1)).await });
    waits_for_a_lock(database.pool()).await;
    first.commit().await.unwrap();
    assert_eq!(
        undo.await.unwrap(),
        BackwardAdmission::Fresh { forward_ran: true }
    );
    assert_eq!(
        forward(database.pool(), &command(saga, "forward", 1)).await,
        Admission::Undone
    );
}

/// ... and if that transaction fails, the forward never ran.
#[tokio::test]
async fn an_undo_that_waited_for_a_forward_command_that_failed_finds_that_it_never_ran() {
    let (database, saga) = (database().await, Uuid::now_v7());
    let mut first = database.pool().begin().await.unwrap();
    admit_forward(&mut first, &command(saga, "forward", 1))
        .await
        .unwrap();
    let pool = database.pool().clone();
    let undo = tokio::spawn(async move { backward(&pool, &command(saga, "backward", 1)).await });
    waits_for_a_lock(database.pool()).await;
    first.rollback().await.unwrap();
    assert_eq!(
        undo.await.unwrap(),
        BackwardAdmission::Fresh { forward_ran: false }
    );
}

/// The undo is at work: the forward command that waited for it sees `undone`.
#[tokio::test]
async fn a_forward_command_that_waited_for_the_undo_does_nothing() {
    let (database, saga) = (database().await, Uuid::now_v7());
    let mut undo = database.pool().begin().await.unwrap();
    admit_backward(&mut undo, &command(saga, "backward", 1))
        .await
        .unwrap();
    let pool = database.pool().clone();
    let late = tokio::spawn(async move { forward(&pool, &command(saga, "forward", 1)).await });
    waits_for_a_lock(database.pool()).await;
    undo.commit().await.unwrap();
    assert_eq!(late.await.unwrap(), Admission::Undone);
}

/// Two deliveries of one undo at once: the second waits at the forward's key, and learns the first
/// one's outcome.
#[tokio::test]
async fn a_duplicate_undo_that_waited_sees_what_the_first_decided() {
    let (database, saga) = (database().await, Uuid::now_v7());
    let refund = command(saga, "backward", 1);
    let mut first = database.pool().begin().await.unwrap();
    admit_backward(&mut first, &refund).await.unwrap();
    let (pool, duplicate) = (database.pool().clone(), refund.clone());
    let rival = tokio::spawn(async move { backward(&pool, &duplicate).await });
    waits_for_a_lock(database.pool()).await;
    let voided = outcome("PaymentVoided");
    keep_outcome(&mut first, saga, "charge", Direction::Backward, &voided)
        .await
        .unwrap();
    first.commit().await.unwrap();
    assert_eq!(rival.await.unwrap(), BackwardAdmission::Decided(voided));
}

#[tokio::test]
async fn an_undo_with_a_stale_epoch_marks_nothing() {
    let (database, saga) = (database().await, Uuid::now_v7());
    forward(database.pool(), &command(saga, "forward", 5)).await;
    assert_eq!(
        backward(database.pool(), &command(saga, "backward", 4)).await,
        BackwardAdmission::StaleEpoch { highest: 5 }
    );
    assert_eq!(
        forward(database.pool(), &command(saga, "forward", 5)).await,
        Admission::Open
    );
}
