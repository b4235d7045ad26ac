//! `held` keeps blocked rows out of the batch, and never keeps anything from being published.

use crate::support::{Broker, committed, database, options, pending, refused, relay};

async fn held(pool: &sqlx::PgPool) -> Vec<i64> {
    sqlx::query_scalar("SELECT id FROM outbox_pending WHERE held ORDER BY id")
        .fetch_all(pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn rows_behind_one_that_waits_are_held_and_let_go_one_after_the_other() {
    let (database, broker) = (database().await, Broker::default());
    for version in 1..=4 {
        committed(database.pool(), "A", version).await;
    }
    broker.answers("A", 1, &[refused()]);
    let mut slow = options("r");
    slow.backoff_first = std::time::Duration::from_hours(1);
    slow.backoff_max = std::time::Duration::from_hours(1);
    let mut relay = relay(database.pool(), &broker, slow);
    relay.one_pass().await.unwrap();
    relay.one_pass().await.unwrap();
    assert_eq!(held(database.pool()).await, [2, 3, 4]);

    sqlx::query("UPDATE outbox_pending SET next_attempt_at = now()")
        .execute(database.pool())
        .await
        .unwrap();
    for expected in [vec![1], vec![2], vec![3], vec![4]] {
        assert_eq!(relay.one_pass().await.unwrap().published, expected);
    }
    assert_eq!(pending(database.pool()).await, 0);
}

/// More of one aggregate than a line takes: the rest waits in the table, and all of it goes out.
#[tokio::test]
async fn a_long_backlog_of_one_aggregate_does_not_stop_the_others() {
    let (database, broker) = (database().await, Broker::default());
    for version in 1..=100 {
        committed(database.pool(), "A", version).await;
    }
    let b = committed(database.pool(), "B", 1).await;
    let mut relay = relay(database.pool(), &broker, options("r"));
    assert!(relay.one_pass().await.unwrap().published.contains(&b));
    assert!(!held(database.pool()).await.is_empty());
    while pending(database.pool()).await > 0 {
        assert!(
            !relay.one_pass().await.unwrap().published.is_empty(),
            "it goes on"
        );
    }
    let versions: Vec<String> = broker
        .topic()
        .into_iter()
        .filter(|(aggregate, _)| aggregate == "A")
        .map(|(_, version)| version)
        .collect();
    assert_eq!(
        versions,
        (1..=100).map(|v: i32| v.to_string()).collect::<Vec<_>>()
    );
}

/// A hint that is wrong costs five seconds, not an event: a row that is held although nothing
/// precedes it is found by the relay's upkeep.
#[tokio::test]
async fn a_row_that_is_held_without_need_is_let_go() {
    let (database, broker) = (database().await, Broker::default());
    let id = committed(database.pool(), "A", 2).await;
    sqlx::query("UPDATE outbox_pending SET held = true")
        .execute(database.pool())
        .await
        .unwrap();

    let (stop, relay) = (
        tokio_util::sync::CancellationToken::new(),
        relay(database.pool(), &broker, options("r")),
    );
    let running = tokio::task::spawn(relay.run(stop.clone()));
    tercet_testbed::eventually(
        "the event",
        std::time::Duration::from_secs(15),
        async || (pending(database.pool()).await == 0).then_some(()),
    )
    .await;
    stop.cancel();
    running.await.unwrap();
    assert_eq!(broker.topic().len(), 1, "row {id}");
}
