//! On a real broker: its word, its partitions, its topics that come and go.

use std::time::Duration;

use tercet_outbox::{KafkaPublisher, NewEvent, Relay, enqueue};
use tercet_testbed::{eventually, kafka};
use tokio_util::sync::CancellationToken;

use crate::support::{database, event, options, pending};

const DELIVERY_TIMEOUT: Duration = Duration::from_secs(2);

fn publisher() -> KafkaPublisher {
    KafkaPublisher::new(&kafka::brokers(), "test", DELIVERY_TIMEOUT).unwrap()
}

async fn write(pool: &sqlx::PgPool, topic: &str, aggregate: &str, version: i64) -> NewEvent {
    let mut tx = pool.begin().await.unwrap();
    let mut event = event(aggregate, version);
    event.topic = topic.to_owned();
    let appended = enqueue(&mut tx, event).await.unwrap();
    tx.commit().await.unwrap();
    appended.event
}

async fn published(pool: &sqlx::PgPool, within: u64) {
    eventually("all published", Duration::from_secs(within), async || {
        (pending(pool).await == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_aggregate_reaches_the_topic_in_order_once() {
    let (database, topic) = (database().await, kafka::unique("outbox"));
    kafka::create_topic(&topic, 4).await;
    for version in 1..=20 {
        for aggregate in ["A", "B", "C", "D", "E"] {
            write(database.pool(), &topic, aggregate, version).await;
        }
    }
    let stop = CancellationToken::new();
    let (relay, _) = Relay::new(database.pool(), publisher(), options("r")).unwrap();
    let running = tokio::task::spawn(relay.run(stop.clone()));
    published(database.pool(), 20).await;
    stop.cancel();
    running.await.unwrap();

    let records = kafka::read_all(&topic).await;
    assert_eq!(records.len(), 100);
    for aggregate in ["A", "B", "C", "D", "E"] {
        let versions: Vec<i64> = records
            .iter()
            .filter(|record| record.key.as_deref() == Some(aggregate))
            .map(|record| record.headers["ce_aggregateversion"].parse().unwrap())
            .collect();
        assert_eq!(versions, (1..=20).collect::<Vec<_>>(), "{aggregate}");
    }
}

/// After the commit, a wake-up, not the poll, brings the event to the topic.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wake_up_publishes_at_once_in_this_process_and_in_another() {
    let (database, topic) = (database().await, kafka::unique("outbox"));
    kafka::create_topic(&topic, 1).await;
    let mut lazy = options("far");
    lazy.poll_min = Duration::from_hours(1);
    lazy.poll_max = Duration::from_hours(1);
    let stop = CancellationToken::new();
    let (far, _) = Relay::new(database.pool(), publisher(), lazy.clone()).unwrap();
    let far = tokio::task::spawn(far.run(stop.clone()));
    lazy.owner = "near".to_owned();
    let (near, wake) = Relay::new(database.pool(), publisher(), lazy).unwrap();
    let near = tokio::task::spawn(near.run(stop.clone()));
    eventually("both relays at work", Duration::from_secs(10), async || {
        let owners: i64 = sqlx::query_scalar(
            "SELECT count(DISTINCT owner) FROM outbox_partitions WHERE lease_until > now()",
        )
        .fetch_one(database.pool())
        .await
        .unwrap();
        (owners == 2).then_some(())
    })
    .await;
    // Ten aggregates fall into partitions of both.
    for n in 0..10 {
        write(database.pool(), &topic, &format!("order-{n}"), 1).await;
    }
    wake.notify();
    published(database.pool(), 10).await;
    stop.cancel();
    far.await.unwrap();
    near.await.unwrap();
}

/// The broker refuses one record; only its aggregate waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_is_too_large_is_the_records_own_fault() {
    let (database, topic) = (database().await, kafka::unique("outbox"));
    kafka::create_topic(&topic, 1).await;
    let mut tx = database.pool().begin().await.unwrap();
    let mut large = event("A", 1);
    large.topic.clone_from(&topic);
    large.payload = serde_json::json!({ "text": "x".repeat(2_000_000) });
    enqueue(&mut tx, large).await.unwrap();
    tx.commit().await.unwrap();
    write(database.pool(), &topic, "A", 2).await;
    write(database.pool(), &topic, "B", 1).await;

    let mut two = options("r");
    two.attempts_max = 2;
    let (mut relay, _) = Relay::new(database.pool(), publisher(), two).unwrap();
    for _ in 0..4 {
        relay.one_pass().await.unwrap();
    }
    let keys: Vec<_> = kafka::read_all(&topic)
        .await
        .into_iter()
        .map(|record| record.key)
        .collect();
    assert_eq!(keys, [Some("B".to_owned())]);
    let quarantined: i64 =
        sqlx::query_scalar("SELECT count(*) FROM outbox_pending WHERE quarantined_at IS NOT NULL")
            .fetch_one(database.pool())
            .await
            .unwrap();
    assert_eq!(quarantined, 1);
}

/// Topics are deleted and made again under a running relay: it goes on by itself, within seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_made_anew_is_published_to_within_seconds() {
    let (database, topic) = (database().await, kafka::unique("outbox"));
    kafka::create_topic(&topic, 3).await;
    let stop = CancellationToken::new();
    let (relay, wake) = Relay::new(database.pool(), publisher(), options("r")).unwrap();
    let running = tokio::task::spawn(relay.run(stop.clone()));
    for n in 0..30 {
        write(database.pool(), &topic, &format!("before-{n}"), 1).await;
    }
    wake.notify();
    published(database.pool(), 10).await;

    kafka::delete_topic(&topic).await;
    for n in 0..30 {
        write(database.pool(), &topic, &format!("during-{n}"), 1).await;
        wake.notify();
    }
    // Long enough for the producer to learn that the topic is gone, and to give records up.
    tokio::time::sleep(Duration::from_secs(7)).await;
    kafka::create_topic(&topic, 3).await;
    write(database.pool(), &topic, "after", 1).await;
    wake.notify();
    published(database.pool(), 15).await;
    stop.cancel();
    running.await.unwrap();

    let mut keys: Vec<_> = kafka::read_all(&topic)
        .await
        .into_iter()
        .filter_map(|record| record.key)
        .collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 31, "{keys:?}");
}

/// Made anew so quickly that the producer never saw it gone: the broker has forgotten the
/// producer's sequence numbers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_exchanged_at_once_is_published_to_within_seconds() {
    let (database, topic) = (database().await, kafka::unique("outbox"));
    kafka::create_topic(&topic, 1).await;
    let stop = CancellationToken::new();
    let (relay, wake) = Relay::new(database.pool(), publisher(), options("r")).unwrap();
    let running = tokio::task::spawn(relay.run(stop.clone()));
    for n in 0..30 {
        write(database.pool(), &topic, &format!("before-{n}"), 1).await;
    }
    wake.notify();
    published(database.pool(), 10).await;
    kafka::delete_topic(&topic).await;
    kafka::create_topic(&topic, 1).await;
    for n in 0..30 {
        write(database.pool(), &topic, &format!("after-{n}"), 1).await;
    }
    wake.notify();
    published(database.pool(), 15).await;
    stop.cancel();
    running.await.unwrap();
    assert!(kafka::read_all(&topic).await.len() >= 30);
}
