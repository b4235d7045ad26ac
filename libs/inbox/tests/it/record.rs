use std::time::Duration;

use tercet_inbox::{Seen, check_retention, purge, record};
use tercet_testbed::kafka;
use uuid::Uuid;

use crate::support::{database, waits_for_a_lock};

#[tokio::test]
async fn a_message_is_first_once_for_each_consumer() {
    let database = database().await;
    let mut conn = database.pool().acquire().await.unwrap();
    let id = Uuid::now_v7();
    assert_eq!(record(&mut conn, "a", id).await.unwrap(), Seen::First);
    assert_eq!(record(&mut conn, "a", id).await.unwrap(), Seen::Duplicate);
    assert_eq!(record(&mut conn, "b", id).await.unwrap(), Seen::First);
}

/// Two processes with one message at once: the one that waits becomes a duplicate, and its *next*
/// statement sees the winner's effect.
#[tokio::test]
async fn a_rival_that_waited_is_a_duplicate_and_sees_the_winners_effect_next() {
    let database = database().await;
    let id = Uuid::now_v7();
    let mut first = database.pool().begin().await.unwrap();
    assert_eq!(record(&mut first, "a", id).await.unwrap(), Seen::First);
    sqlx::query("INSERT INTO effects (message) VALUES ('once')")
        .execute(&mut *first)
        .await
        .unwrap();

    let pool = database.pool().clone();
    let rival = tokio::spawn(async move {
        let mut tx = pool.begin().await.unwrap();
        let seen = record(&mut tx, "a", id).await.unwrap();
        let effects: i64 = sqlx::query_scalar("SELECT count(*) FROM effects")
            .fetch_one(&mut *tx)
            .await
            .unwrap();
        (seen, effects)
    });
    waits_for_a_lock(database.pool()).await;
    first.commit().await.unwrap();
    assert_eq!(rival.await.unwrap(), (Seen::Duplicate, 1));
}

#[tokio::test]
async fn a_rival_that_waited_for_one_that_failed_is_first() {
    let database = database().await;
    let id = Uuid::now_v7();
    let mut first = database.pool().begin().await.unwrap();
    record(&mut first, "a", id).await.unwrap();
    let pool = database.pool().clone();
    let rival = tokio::spawn(async move {
        let mut tx = pool.begin().await.unwrap();
        record(&mut tx, "a", id).await.unwrap()
    });
    waits_for_a_lock(database.pool()).await;
    first.rollback().await.unwrap();
    assert_eq!(rival.await.unwrap(), Seen::First);
}

#[tokio::test]
async fn old_rows_are_purged_and_young_ones_stay() {
    let database = database().await;
    let mut conn = database.pool().acquire().await.unwrap();
    for _ in 0..3 {
        record(&mut conn, "a", Uuid::now_v7()).await.unwrap();
    }
    sqlx::query("UPDATE inbox_messages SET received_at = now() - interval '15 days'")
        .execute(&mut *conn)
        .await
        .unwrap();
    record(&mut conn, "a", Uuid::now_v7()).await.unwrap();
    assert_eq!(
        purge(database.pool(), Duration::from_hours(14 * 24))
            .await
            .unwrap(),
        3
    );
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM inbox_messages")
        .fetch_one(&mut *conn)
        .await
        .unwrap();
    assert_eq!(left, 1);
}

#[tokio::test]
async fn a_start_is_refused_when_inbox_rows_would_not_outlive_the_messages() {
    let topic = kafka::unique("inbox");
    kafka::create_topic(&topic, 1).await; // the broker's default: 7 days
    let (day, topics) = (Duration::from_hours(24), vec![topic]);
    let brokers = kafka::brokers();
    let check = |keep: u32, redrive: u32| {
        check_retention(&brokers, &topics, day * keep, day * redrive, None)
    };
    check(14, 6).await.unwrap();
    let error = check(14, 7).await.unwrap_err();
    assert!(!error.is_transient());
    let told = error.to_string();
    assert!(
        told.contains("1209600s") && told.contains("604800s"),
        "the numbers: {told}"
    );

    let unreachable = check_retention("127.0.0.1:1", &topics, day * 14, day, Some(day * 7)).await;
    unreachable.unwrap(); // by the setting
}
