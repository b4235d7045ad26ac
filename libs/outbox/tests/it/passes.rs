//! The table of five, wave order, and what a failure does to the events around it.

use tercet_outbox::enqueue;

use crate::support::{
    Answer, Broker, committed, database, event, options, pending, refused, relay, unavailable,
};

/// Events 1 and 3 of order A, 2 of order B.
async fn three_events(pool: &sqlx::PgPool) {
    assert_eq!(committed(pool, "A", 1).await, 1);
    assert_eq!(committed(pool, "B", 1).await, 2);
    assert_eq!(committed(pool, "A", 2).await, 3);
}

#[tokio::test]
async fn all_acknowledged_publishes_each_once_in_one_pass() {
    let (database, broker) = (database().await, Broker::default());
    three_events(database.pool()).await;
    let mut relay = relay(database.pool(), &broker, options("r"));
    assert_eq!(relay.one_pass().await.unwrap().published, [1, 2, 3]);
    assert_eq!(relay.one_pass().await.unwrap().published, [0_i64; 0]);
    assert_eq!(pending(database.pool()).await, 0);
}

#[tokio::test]
async fn an_event_that_fails_holds_up_its_own_aggregate_only() {
    let (database, broker) = (database().await, Broker::default());
    three_events(database.pool()).await;
    broker.answers("A", 1, &[refused()]);
    let mut relay = relay(database.pool(), &broker, options("r"));
    let pass = relay.one_pass().await.unwrap();
    assert_eq!((pass.published, pass.failed), (vec![2], vec![1]));
    assert_eq!(relay.one_pass().await.unwrap().published, [1, 3]);
}

#[tokio::test]
async fn the_last_event_that_fails_holds_up_nothing() {
    let (database, broker) = (database().await, Broker::default());
    three_events(database.pool()).await;
    broker.answers("A", 2, &[refused()]);
    let mut relay = relay(database.pool(), &broker, options("r"));
    assert_eq!(relay.one_pass().await.unwrap().published, [1, 2]);
    assert_eq!(relay.one_pass().await.unwrap().published, [3]);
}

#[tokio::test]
async fn an_event_whose_acknowledgement_is_lost_is_published_again_under_its_id() {
    let (database, broker) = (database().await, Broker::default());
    three_events(database.pool()).await;
    broker.answers("A", 1, &[Answer::WriteAndLoseTheAck]);
    let mut relay = relay(database.pool(), &broker, options("r"));
    assert_eq!(relay.one_pass().await.unwrap().published, [2]);
    assert_eq!(relay.one_pass().await.unwrap().published, [1, 3]);

    let mut ids: Vec<String> = broker
        .records()
        .iter()
        .map(|record| record.headers["ce_id"].clone())
        .collect();
    assert_eq!(ids.len(), 4, "delivered twice");
    ids.sort();
    ids.dedup();
    assert_eq!(
        ids.len(),
        3,
        "a reader that deduplicates by id has each once"
    );
}

#[tokio::test]
async fn a_batch_of_two_takes_two_passes() {
    let (database, broker) = (database().await, Broker::default());
    three_events(database.pool()).await;
    let mut two = options("r");
    two.in_flight_max = 2;
    let mut relay = relay(database.pool(), &broker, two);
    assert_eq!(relay.one_pass().await.unwrap().published, [1, 2]);
    assert_eq!(relay.one_pass().await.unwrap().published, [3]);
}

/// X takes row number n and stays open; Y takes n+1, commits and is published; then X commits. A
/// relay that remembers how far it got would never see X.
#[tokio::test]
async fn an_event_that_commits_after_a_later_row_number_is_published() {
    let (database, broker) = (database().await, Broker::default());
    let mut relay = relay(database.pool(), &broker, options("r"));
    let mut x = database.pool().begin().await.unwrap();
    let x_id = enqueue(&mut x, event("X", 1)).await.unwrap().id;
    let y_id = committed(database.pool(), "Y", 1).await;
    assert_eq!(y_id, x_id + 1);

    assert_eq!(relay.one_pass().await.unwrap().published, [y_id]);
    x.commit().await.unwrap();
    assert_eq!(relay.one_pass().await.unwrap().published, [x_id]);
}

/// The rule itself: n+1 goes only after n's report, whatever happens to n.
#[tokio::test]
async fn versions_reach_the_topic_in_order_through_every_failure() {
    let (database, broker) = (database().await, Broker::default());
    for version in 1..=5 {
        committed(database.pool(), "A", version).await;
        committed(database.pool(), "B", version).await;
    }
    broker
        .answers(
            "A",
            2,
            &[refused(), unavailable(), Answer::WriteAndLoseTheAck],
        )
        .answers("A", 4, &[unavailable(), unavailable()])
        .answers(
            "B",
            1,
            &[Answer::WriteAndLoseTheAck, Answer::WriteAndLoseTheAck],
        );
    let mut relay = relay(database.pool(), &broker, options("r"));
    for _ in 0..12 {
        relay.one_pass().await.unwrap();
    }
    assert_eq!(pending(database.pool()).await, 0);
    for aggregate in ["A", "B"] {
        let mut first_seen: Vec<String> = Vec::new();
        for (of, version) in broker.topic() {
            if of == aggregate && !first_seen.contains(&version) {
                first_seen.push(version);
            }
        }
        assert_eq!(first_seen, ["1", "2", "3", "4", "5"], "{aggregate}");
    }
}

#[tokio::test]
async fn an_event_refused_too_often_is_quarantined_and_blocks_its_aggregate_alone() {
    let (database, broker) = (database().await, Broker::default());
    three_events(database.pool()).await;
    broker.answers("A", 1, &[refused(), refused(), refused(), refused()]);
    let mut three = options("r");
    three.attempts_max = 3;
    let mut relay = relay(database.pool(), &broker, three);
    for _ in 0..6 {
        relay.one_pass().await.unwrap();
    }
    assert_eq!(broker.topic(), [("B".to_owned(), "1".to_owned())]);
    let quarantined: Vec<(i64, i32, Option<String>)> = sqlx::query_as(
        "SELECT id, attempts, last_error FROM outbox_pending WHERE quarantined_at IS NOT NULL",
    )
    .fetch_all(database.pool())
    .await
    .unwrap();
    assert_eq!(quarantined, [(1, 3, Some("refused: too large".to_owned()))]);
    assert_eq!(
        pending(database.pool()).await,
        2,
        "the event after it waits"
    );
}

/// A broker that is away says nothing about an event, however long it is away.
#[tokio::test]
async fn an_outage_quarantines_nothing() {
    let (database, broker) = (database().await, Broker::default());
    committed(database.pool(), "A", 1).await;
    broker.answers("A", 1, &vec![unavailable(); 50]);
    let mut two = options("r");
    two.attempts_max = 2;
    let mut relay = relay(database.pool(), &broker, two);
    for _ in 0..50 {
        assert_eq!(relay.one_pass().await.unwrap().published, [0_i64; 0]);
    }
    assert_eq!(relay.one_pass().await.unwrap().published, [1]);
}

#[tokio::test]
async fn a_failed_event_waits_for_its_backoff() {
    let (database, broker) = (database().await, Broker::default());
    committed(database.pool(), "A", 1).await;
    broker.answers("A", 1, &[refused()]);
    let mut slow = options("r");
    slow.backoff_first = std::time::Duration::from_secs(20);
    let mut relay = relay(database.pool(), &broker, slow);
    assert_eq!(relay.one_pass().await.unwrap().failed, [1]);
    assert_eq!(relay.one_pass().await.unwrap().published, [0_i64; 0]);
    let waits: f64 = sqlx::query_scalar(
        "SELECT extract(epoch FROM next_attempt_at - now())::float8 FROM outbox_pending",
    )
    .fetch_one(database.pool())
    .await
    .unwrap();
    assert!(
        (9.0..=20.0).contains(&waits),
        "half of it is fixed, half is jitter: {waits}"
    );
}

#[tokio::test]
async fn a_record_carries_the_cloudevents_attributes_and_the_events_own_headers() {
    let (database, broker) = (database().await, Broker::default());
    let mut conn = database.pool().acquire().await.unwrap();
    let written = enqueue(&mut conn, event("A", 1)).await.unwrap().event;
    relay(database.pool(), &broker, options("r"))
        .one_pass()
        .await
        .unwrap();

    let record = broker.records().pop().unwrap();
    assert_eq!(
        (record.topic.as_str(), record.key.as_str()),
        ("orders", "A")
    );
    let body: serde_json::Value = serde_json::from_slice(&record.payload).unwrap();
    assert_eq!(body, written.payload);
    let expected = [
        ("ce_specversion", "1.0"),
        ("ce_id", &written.event_id.to_string()),
        ("ce_source", "//test/outbox"),
        ("ce_type", "test.v1.Happened"),
        ("ce_subject", "A"),
        ("ce_time", written.payload["occurredAt"].as_str().unwrap()),
        ("ce_dataschema", "//test/outbox/schemas/test.v1.Happened"),
        ("ce_aggregatetype", "order"),
        ("ce_aggregateversion", "1"),
        ("ce_sagaid", "saga"),
        ("content-type", "application/json"),
    ];
    let headers: Vec<(&str, &str)> = record
        .headers
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(headers, expected);
}
