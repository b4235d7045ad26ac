//! Topics that do not exist yet, go away, and come again under a running consumer.

use std::time::Duration;

use tercet_testbed::kafka;

use crate::support::{Script, database, effects_are, options, send, start};

/// Within this a consumer must have found a topic that is there (again).
const WITHIN: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_that_is_made_after_the_start_is_read() {
    let (database, topic) = (database().await, kafka::unique("inbox"));
    let group = kafka::unique("group");
    let running = start(
        database.pool(),
        &Script::default(),
        options(&group, &topic, "a"),
    );
    tokio::time::sleep(Duration::from_secs(2)).await;
    kafka::create_topic(&topic, 2).await;
    send(&topic, "k", &["first"]).await;
    effects_are(database.pool(), 1, WITHIN).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_that_was_gone_for_a_while_is_read_from_its_beginning() {
    let (database, topic) = (database().await, kafka::unique("inbox"));
    let group = kafka::unique("group");
    kafka::create_topic(&topic, 2).await;
    let running = start(
        database.pool(),
        &Script::default(),
        options(&group, &topic, "a"),
    );
    for n in 0..20 {
        send(&topic, &format!("k{n}"), &["before"]).await;
    }
    effects_are(database.pool(), 20, WITHIN).await;
    kafka::delete_topic(&topic).await;
    tokio::time::sleep(Duration::from_secs(8)).await; // the consumer learns of it
    kafka::create_topic(&topic, 2).await;
    for n in 0..5 {
        send(&topic, &format!("k{n}"), &["after"]).await;
    }
    effects_are(database.pool(), 25, WITHIN).await;
    running.stop().await;
}

/// Exchanged so quickly that the consumer never saw it gone; the new one ends before the offset at
/// which the old one was read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_exchanged_at_once_for_a_shorter_one_is_read_from_its_beginning() {
    let (database, topic) = (database().await, kafka::unique("inbox"));
    let group = kafka::unique("group");
    kafka::create_topic(&topic, 1).await;
    let running = start(
        database.pool(),
        &Script::default(),
        options(&group, &topic, "a"),
    );
    for n in 0..20 {
        send(&topic, "k", &[&format!("before-{n}")]).await;
    }
    effects_are(database.pool(), 20, WITHIN).await;
    kafka::delete_topic(&topic).await;
    kafka::create_topic(&topic, 1).await;
    for n in 0..5 {
        send(&topic, "k", &[&format!("after-{n}")]).await;
    }
    effects_are(database.pool(), 25, WITHIN).await;
    running.stop().await;
}

/// ... and for one that has grown past that offset before the consumer looks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_exchanged_at_once_for_a_longer_one_is_read_from_its_beginning() {
    let (database, topic) = (database().await, kafka::unique("inbox"));
    let group = kafka::unique("group");
    kafka::create_topic(&topic, 1).await;
    let running = start(
        database.pool(),
        &Script::default(),
        options(&group, &topic, "a"),
    );
    send(&topic, "k", &["before-1", "before-2"]).await;
    effects_are(database.pool(), 2, WITHIN).await;
    kafka::delete_topic(&topic).await;
    kafka::create_topic(&topic, 1).await;
    let payloads: Vec<String> = (0..10).map(|n| format!("after-{n}")).collect();
    send(
        &topic,
        "k",
        &payloads.iter().map(String::as_str).collect::<Vec<_>>(),
    )
    .await;
    effects_are(database.pool(), 12, WITHIN).await;
    running.stop().await;
}

/// The consumer is down while its topic is exchanged: the offset it committed is of the old topic.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_exchanged_while_the_consumer_was_down_is_read_from_its_beginning() {
    let (database, topic) = (database().await, kafka::unique("inbox"));
    let group = kafka::unique("group");
    kafka::create_topic(&topic, 1).await;
    let running = start(
        database.pool(),
        &Script::default(),
        options(&group, &topic, "a"),
    );
    send(&topic, "k", &["before-1", "before-2"]).await;
    effects_are(database.pool(), 2, WITHIN).await;
    running.stop().await;
    kafka::delete_topic(&topic).await;
    kafka::create_topic(&topic, 1).await;
    send(&topic, "k", &["after-1", "after-2", "after-3"]).await;
    let running = start(
        database.pool(),
        &Script::default(),
        options(&group, &topic, "a"),
    );
    effects_are(database.pool(), 5, WITHIN).await;
    running.stop().await;
}
