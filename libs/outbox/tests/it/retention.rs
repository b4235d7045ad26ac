use std::time::Duration;

use tercet_outbox::purge;

use crate::support::{Broker, committed, database, options, refused, relay};

#[tokio::test]
async fn old_events_go_and_pending_or_young_ones_stay() {
    let (database, broker) = (database().await, Broker::default());
    let pool = database.pool();
    for version in 1..=3 {
        committed(pool, "A", version).await;
    }
    let refused_id = committed(pool, "B", 1).await;
    broker.answers("B", 1, &[refused()]);
    relay(pool, &broker, options("r")).one_pass().await.unwrap();
    sqlx::query("UPDATE outbox_events SET created_at = now() - interval '8 days'")
        .execute(pool)
        .await
        .unwrap();
    let young = committed(pool, "C", 1).await;

    assert_eq!(purge(pool, Duration::from_hours(7 * 24)).await.unwrap(), 3);
    let left: Vec<i64> = sqlx::query_scalar("SELECT id FROM outbox_events ORDER BY id")
        .fetch_all(pool)
        .await
        .unwrap();
    assert_eq!(left, [refused_id, young]);
}

#[tokio::test]
async fn a_purge_walks_through_more_than_one_batch() {
    let database = database().await;
    sqlx::query(
        "INSERT INTO outbox_events (event_id, aggregate_type, aggregate_id, aggregate_version, topic,
                                    event_type, payload, created_at)
         SELECT gen_random_uuid(), 'order', n::text, 1, 't', 'e', '{}', now() - interval '8 days'
           FROM generate_series(1, 2500) AS n",
    )
    .execute(database.pool())
    .await
    .unwrap();
    assert_eq!(
        purge(database.pool(), Duration::from_hours(7 * 24))
            .await
            .unwrap(),
        2_500
    );
}
