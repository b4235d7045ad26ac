use std::time::Duration;

use tercet_outbox::{Error, enqueue};
use tercet_testbed::eventually;

use crate::support::{database, event};

/// The version's unique key is one of the statements that can wait: the one that waited must learn
/// of the winner. Here the error that the wait ends with is the second look.
#[tokio::test]
async fn a_version_taken_by_an_open_transaction_is_seen_when_that_commits() {
    let database = database().await;
    let mut first = database.pool().begin().await.unwrap();
    enqueue(&mut first, event("a", 1)).await.unwrap();

    let pool = database.pool().clone();
    let rival = tokio::task::spawn(async move {
        let mut tx = pool.begin().await.unwrap();
        enqueue(&mut tx, event("a", 1)).await
    });
    waits_for_a_lock(database.pool()).await;
    first.commit().await.unwrap();

    let error = rival.await.unwrap().unwrap_err();
    assert!(
        matches!(&error, Error::VersionTaken { aggregate_id, aggregate_version: 1, .. } if aggregate_id == "a"),
        "{error:?}"
    );
    assert!(!error.is_transient());
}

#[tokio::test]
async fn a_version_given_up_by_an_open_transaction_is_free() {
    let database = database().await;
    let mut first = database.pool().begin().await.unwrap();
    enqueue(&mut first, event("a", 1)).await.unwrap();

    let pool = database.pool().clone();
    let rival = tokio::task::spawn(async move {
        let mut tx = pool.begin().await.unwrap();
        let appended = enqueue(&mut tx, event("a", 1)).await;
        tx.commit().await.unwrap();
        appended
    });
    waits_for_a_lock(database.pool()).await;
    first.rollback().await.unwrap();
    rival.await.unwrap().unwrap();
}

async fn waits_for_a_lock(pool: &sqlx::PgPool) {
    eventually(
        "a session that waits for a lock",
        Duration::from_secs(10),
        async || {
            let waiting: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock'",
            )
            .fetch_one(pool)
            .await
            .unwrap();
            (waiting > 0).then_some(())
        },
    )
    .await;
}
