use serde_json::json;
use sqlx::Row;
use tercet_outbox::{Error, enqueue};

use crate::support::{committed, database, event, pending};

#[tokio::test]
async fn an_event_is_there_if_and_only_if_its_transaction_commits() {
    let database = database().await;
    let mut tx = database.pool().begin().await.unwrap();
    enqueue(&mut tx, event("a", 1)).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(pending(database.pool()).await, 0);

    committed(database.pool(), "a", 1).await;
    assert_eq!(pending(database.pool()).await, 1);
}

#[tokio::test]
async fn the_payload_carries_the_databases_time_and_comes_back_as_it_was_written() {
    let database = database().await;
    let mut conn = database.pool().acquire().await.unwrap();
    let appended = enqueue(&mut conn, event("a", 1)).await.unwrap();

    let stored = sqlx::query("SELECT payload, created_at FROM outbox_events WHERE id = $1")
        .bind(appended.id)
        .fetch_one(&mut *conn)
        .await
        .unwrap();
    assert_eq!(
        stored.get::<serde_json::Value, _>("payload"),
        appended.event.payload
    );
    assert_eq!(appended.event.payload["n"], json!("1"));
    let written = appended.event.payload["occurredAt"].as_str().unwrap();
    let format = &time::format_description::well_known::Rfc3339;
    assert_eq!(
        time::OffsetDateTime::parse(written, format).unwrap(),
        stored.get::<time::OffsetDateTime, _>("created_at")
    );
    assert!(written.ends_with('Z') && written.len() == "2026-11-30T12:00:00.000000Z".len());
}

#[tokio::test]
async fn a_payload_without_a_place_for_the_time_is_refused() {
    let database = database().await;
    let mut conn = database.pool().acquire().await.unwrap();
    let mut list = event("a", 1);
    list.payload = json!([1]);
    let error = enqueue(&mut conn, list).await.unwrap_err();
    assert!(matches!(error, Error::PayloadNotAnObject { .. }) && !error.is_transient());
}

#[tokio::test]
async fn the_partition_of_an_aggregate_is_fixed_for_ever() {
    let database = database().await;
    for (aggregate, partition) in [
        ("", 20_i16),
        ("a", 12),
        ("order-1", 14),
        ("0190a6c0-0000-7000-8000-000000000001", 2),
    ] {
        let found: i16 = sqlx::query_scalar("SELECT outbox_partition($1)")
            .bind(aggregate)
            .fetch_one(database.pool())
            .await
            .unwrap();
        assert_eq!(found, partition, "{aggregate:?}");
    }
}
