//! Forward commands: decided once, whatever comes how often and at the same time as what.

use std::collections::BTreeMap;

use sqlx::PgPool;
use tercet_inbox::{
    Error,
    guard::{Admission, CommandKey, Direction, KeptOutcome, admit_forward, keep_outcome},
};
use uuid::Uuid;

use crate::support::{database, waits_for_a_lock};

pub(crate) fn command(saga_id: Uuid, direction: &str, epoch: i64) -> CommandKey {
    CommandKey {
        saga_id,
        step: "charge".to_owned(),
        command_id: format!("{saga_id}:charge:{direction}"),
        epoch,
    }
}

pub(crate) fn outcome(event_type: &str) -> KeptOutcome {
    KeptOutcome {
        event_id: Uuid::now_v7(),
        event_type: event_type.to_owned(),
        payload: serde_json::json!({ "amountMinor": "4200" }),
        headers: BTreeMap::from([("ce_outcome".to_owned(), "final".to_owned())]),
    }
}

pub(crate) async fn forward(pool: &PgPool, command: &CommandKey) -> Admission {
    let mut tx = pool.begin().await.unwrap();
    let admission = admit_forward(&mut tx, command).await.unwrap();
    tx.commit().await.unwrap();
    admission
}

#[tokio::test]
async fn a_command_is_fresh_once_then_open_then_decided() {
    let (database, saga) = (database().await, Uuid::now_v7());
    let charge = command(saga, "forward", 1);
    assert_eq!(forward(database.pool(), &charge).await, Admission::Fresh);
    assert_eq!(forward(database.pool(), &charge).await, Admission::Open);

    let charged = outcome("PaymentCharged");
    let mut conn = database.pool().acquire().await.unwrap();
    keep_outcome(&mut conn, saga, "charge", Direction::Forward, &charged)
        .await
        .unwrap();
    assert_eq!(
        forward(database.pool(), &charge).await,
        Admission::Decided(charged)
    );
}

#[tokio::test]
async fn a_decided_command_is_never_decided_again() {
    let (database, saga) = (database().await, Uuid::now_v7());
    let mut conn = database.pool().acquire().await.unwrap();
    let never = keep_outcome(&mut conn, saga, "charge", Direction::Forward, &outcome("a")).await;
    assert!(
        matches!(never, Err(Error::NotOpen { .. })),
        "it was not admitted"
    );

    admit_forward(&mut conn, &command(saga, "forward", 1))
        .await
        .unwrap();
    keep_outcome(&mut conn, saga, "charge", Direction::Forward, &outcome("a"))
        .await
        .unwrap();
    let twice = keep_outcome(&mut conn, saga, "charge", Direction::Forward, &outcome("b")).await;
    assert!(matches!(twice, Err(Error::NotOpen { .. })));
}

/// The second-statement rule: the insert that waited found nothing to insert and cannot see why; the
/// statement after it sees the outcome that the winner kept.
#[tokio::test]
async fn a_duplicate_that_waited_sees_what_the_first_decided() {
    let (database, saga) = (database().await, Uuid::now_v7());
    let charge = command(saga, "forward", 1);
    let mut first = database.pool().begin().await.unwrap();
    assert_eq!(
        admit_forward(&mut first, &charge).await.unwrap(),
        Admission::Fresh
    );

    let (pool, duplicate) = (database.pool().clone(), charge.clone());
    let rival = tokio::spawn(async move { forward(&pool, &duplicate).await });
    waits_for_a_lock(database.pool()).await;
    let charged = outcome("PaymentCharged");
    keep_outcome(&mut first, saga, "charge", Direction::Forward, &charged)
        .await
        .unwrap();
    first.commit().await.unwrap();
    assert_eq!(rival.await.unwrap(), Admission::Decided(charged));
}

#[tokio::test]
async fn a_duplicate_that_waited_for_one_that_failed_is_fresh() {
    let (database, saga) = (database().await, Uuid::now_v7());
    let charge = command(saga, "forward", 1);
    let mut first = database.pool().begin().await.unwrap();
    admit_forward(&mut first, &charge).await.unwrap();
    let (pool, duplicate) = (database.pool().clone(), charge.clone());
    let rival = tokio::spawn(async move { forward(&pool, &duplicate).await });
    waits_for_a_lock(database.pool()).await;
    first.rollback().await.unwrap();
    assert_eq!(rival.await.unwrap(), Admission::Fresh);
}

#[tokio::test]
async fn a_lower_epoch_is_told_the_highest_whatever_its_step() {
    let (database, saga) = (database().await, Uuid::now_v7());
    assert_eq!(
        forward(database.pool(), &command(saga, "forward", 5)).await,
        Admission::Fresh
    );
    let stale = Admission::StaleEpoch { highest: 5 };
    assert_eq!(
        forward(database.pool(), &command(saga, "forward", 4)).await,
        stale
    );
    let mut other_step = command(saga, "forward", 4);
    other_step.step = "reserve".to_owned();
    assert_eq!(forward(database.pool(), &other_step).await, stale);
    let other_saga = command(Uuid::now_v7(), "forward", 1);
    assert_eq!(
        forward(database.pool(), &other_saga).await,
        Admission::Fresh
    );
}

#[tokio::test]
async fn a_repetition_under_a_higher_epoch_raises_it() {
    let (database, saga) = (database().await, Uuid::now_v7());
    forward(database.pool(), &command(saga, "forward", 1)).await;
    assert_eq!(
        forward(database.pool(), &command(saga, "forward", 3)).await,
        Admission::Open
    );
    assert_eq!(
        forward(database.pool(), &command(saga, "forward", 2)).await,
        Admission::StaleEpoch { highest: 3 }
    );
}
