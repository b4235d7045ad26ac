//! The consumer's promises on a real broker.

use std::{collections::BTreeMap, time::Duration};

use tercet_testbed::{eventually, kafka};
use uuid::Uuid;

use crate::support::{
    Act, Script, database, dead_letters, effects, effects_are, options, send, send_one, start,
};

async fn topic(partitions: i32) -> (String, String) {
    let topic = kafka::unique("inbox");
    kafka::create_topic(&topic, partitions).await;
    (topic, kafka::unique("group"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_of_one_lane_take_effect_once_and_in_order() {
    let (database, (topic, group)) = (database().await, topic(3).await);
    let running = start(
        database.pool(),
        &Script::default(),
        options(&group, &topic, "a"),
    );
    let payloads: Vec<String> = (0..100).map(|n| format!("{n:03}")).collect();
    let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
    send(&topic, "one-key", &payloads).await;
    assert_eq!(effects_are(database.pool(), 100, 20).await, payloads);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_failing_message_does_not_keep_the_others_from_their_effect() {
    let (database, (topic, group)) = (database().await, topic(1).await);
    let script = Script::default();
    script.set("w2", Act::Fail);
    script.set("fails", Act::Fail);
    send(&topic, "warm-up", &["w0", "w1", "w2"]).await;
    send(&topic, "bad", &["fails", "after it"]).await;
    send(&topic, "good", &["good"]).await;
    let mut three = options(&group, &topic, "a");
    three.batch_max = 3; // three are handled one by one after the assignment; the next three together
    let running = start(database.pool(), &script, three);
    effects_are(database.pool(), 2, 20).await;
    tokio::time::sleep(Duration::from_secs(1)).await; // the others are read while w2 fails
    script.unset("w2");

    assert_eq!(
        effects_are(database.pool(), 4, 20).await,
        ["w0", "w1", "w2", "good"]
    );
    script.unset("fails");
    let all = effects_are(database.pool(), 6, 20).await;
    assert_eq!(all[4..], ["fails", "after it"], "a lane keeps its order");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn poison_is_parked_whole_and_its_partition_goes_on() {
    let (database, (topic, group)) = (database().await, topic(1).await);
    let script = Script::default();
    script.set("poison", Act::Poison);
    let running = start(database.pool(), &script, options(&group, &topic, "a"));
    let headers = BTreeMap::from([
        ("ce_id", Uuid::now_v7().to_string()),
        ("traceparent", "00-trace\0-with-a-nul".to_owned()),
    ]);
    send_one(&topic, "k", "poison", &headers).await;
    send(&topic, "k", &["after"]).await;
    assert_eq!(effects_are(database.pool(), 1, 20).await, ["after"]);
    assert_eq!(
        dead_letters(database.pool()).await,
        [(b"poison".to_vec(), "told to be poison".to_owned())]
    );
    let (id, stored): (String, serde_json::Value) =
        sqlx::query_as("SELECT message_id, headers FROM dead_letters")
            .fetch_one(database.pool())
            .await
            .unwrap();
    assert_eq!(id, headers["ce_id"]);
    assert_eq!(stored["ce_id"], headers["ce_id"]);
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM inbox_messages")
        .fetch_one(database.pool())
        .await
        .unwrap();
    assert_eq!(
        rows, 1,
        "a parked message has no inbox row: it may still take effect"
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_pass_is_never_parked() {
    let (database, (topic, group)) = (database().await, topic(1).await);
    let script = Script::default();
    script.set("fails", Act::Fail);
    let mut once = options(&group, &topic, "a");
    once.attempts_max = 1;
    once.backoff_first = Duration::from_millis(5);
    let running = start(database.pool(), &script, once);
    send(&topic, "k", &["fails", "after"]).await;
    eventually("the message at work", Duration::from_secs(20), async || {
        let begun: i64 = sqlx::query_scalar("SELECT count(*) FROM inbox_attempts")
            .fetch_one(database.pool())
            .await
            .unwrap();
        (begun > 0).then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_secs(2)).await; // many tries
    assert!(
        effects(database.pool()).await.is_empty(),
        "it holds its partition"
    );
    script.unset("fails");
    assert_eq!(
        effects_are(database.pool(), 2, 20).await,
        ["fails", "after"]
    );
    assert!(dead_letters(database.pool()).await.is_empty());
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_panics_is_parked_after_its_attempts() {
    let (database, (topic, group)) = (database().await, topic(1).await);
    let script = Script::default();
    script.set("panics", Act::Panic);
    let running = start(database.pool(), &script, options(&group, &topic, "a"));
    send(&topic, "k", &["panics", "after"]).await;
    assert_eq!(effects_are(database.pool(), 1, 20).await, ["after"]);
    assert_eq!(dead_letters(database.pool()).await[0].0, b"panics");
    running.stop().await;
}

/// A message that ends its process each time: the tries were written down before they began.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_kills_the_process_is_parked_after_its_attempts() {
    let (database, (topic, group)) = (database().await, topic(1).await);
    send(&topic, "k", &["kills", "after"]).await;
    sqlx::query("INSERT INTO inbox_attempts VALUES ($1, $2, 0, 0, 5)")
        .bind(&group)
        .bind(&topic)
        .execute(database.pool())
        .await
        .unwrap();
    let running = start(
        database.pool(),
        &Script::default(),
        options(&group, &topic, "a"),
    );
    assert_eq!(effects_are(database.pool(), 1, 20).await, ["after"]);
    assert_eq!(dead_letters(database.pool()).await[0].0, b"kills");
    eventually(
        "attempts are forgotten",
        Duration::from_secs(5),
        async || {
            let left: i64 = sqlx::query_scalar("SELECT count(*) FROM inbox_attempts")
                .fetch_one(database.pool())
                .await
                .unwrap();
            (left == 0).then_some(())
        },
    )
    .await;
    running.stop().await;
}

/// Under its old name a process is a member again at once: it need not wait for its own session to
/// end, and goes on where it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_under_the_same_name_goes_on_at_once() {
    let (database, (topic, group)) = (database().await, topic(3).await);
    let mut long_session = options(&group, &topic, "a");
    long_session.session_timeout = Duration::from_secs(30);
    for n in 0..5 {
        let running = start(database.pool(), &Script::default(), long_session.clone());
        send(&topic, &format!("k{n}"), &["x", "y"]).await;
        effects_are(database.pool(), (n + 1) * 2, 10).await;
        running.stop().await;
    }
    let effects = effects(database.pool()).await;
    assert_eq!(effects.len(), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_share_the_partitions_and_each_message_has_one_effect() {
    let (database, (topic, group)) = (database().await, topic(4).await);
    let script = Script::default();
    let first = start(database.pool(), &script, options(&group, &topic, "a"));
    for n in 0..20 {
        send(&topic, &format!("k{n}"), &[&format!("first-{n}")]).await;
    }
    effects_are(database.pool(), 20, 20).await;
    let second = start(database.pool(), &script, options(&group, &topic, "b"));
    for n in 0..40 {
        send(&topic, &format!("k{n}"), &[&format!("second-{n}")]).await;
    }
    let mut found = effects_are(database.pool(), 60, 20).await;
    first.stop().await;
    second.stop().await;
    found.sort();
    found.dedup();
    assert_eq!(
        (found.len(), effects(database.pool()).await.len()),
        (60, 60)
    );
}

/// A member that leaves for good: the others have its partitions after the session timeout.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_partitions_of_a_member_that_died_are_taken_over() {
    let (database, (topic, group)) = (database().await, topic(2).await);
    let script = Script::default();
    let first = start(database.pool(), &script, options(&group, &topic, "a"));
    send(&topic, "k", &["joined"]).await;
    effects_are(database.pool(), 1, 20).await;
    let second = start(database.pool(), &script, options(&group, &topic, "b"));
    first.stop().await; // static: its partitions stay its own until the session ends
    for n in 0..10 {
        send(&topic, &format!("k{n}"), &["late"]).await;
    }
    effects_are(database.pool(), 11, 30).await;
    second.stop().await;
}

/// A handler that never returns must not keep the consumer from stopping.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_hangs_is_aborted_when_the_consumer_stops() {
    let (database, (topic, group)) = (database().await, topic(1).await);
    let script = Script::default();
    script.set("hangs", Act::Hang);
    let mut brief = options(&group, &topic, "a");
    brief.revoke_timeout = Duration::from_millis(200);
    let running = start(database.pool(), &script, brief.clone());
    send(&topic, "k", &["before", "hangs"]).await;
    effects_are(database.pool(), 1, 20).await;
    tokio::time::timeout(Duration::from_secs(10), running.stop())
        .await
        .unwrap();

    script.unset("hangs");
    let running = start(database.pool(), &script, brief);
    assert_eq!(
        effects_are(database.pool(), 2, 20).await,
        ["before", "hangs"]
    );
    running.stop().await;
}

/// More messages than the queues take, slowly handled: the partition pauses and resumes, and
/// nothing is lost or out of order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_partition_is_paused_and_resumed() {
    let (database, (topic, group)) = (database().await, topic(1).await);
    let payloads: Vec<String> = (0..200).map(|n| format!("{n:03}")).collect();
    let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
    send(&topic, "one-key", &payloads).await;
    let mut small = options(&group, &topic, "a");
    small.queue_max = 4;
    small.batch_max = 2;
    let running = start(database.pool(), &Script::default(), small);
    assert_eq!(effects_are(database.pool(), 200, 30).await, payloads);
    running.stop().await;
}
