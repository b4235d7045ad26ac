use std::time::Duration;

use sqlx::PgPool;
use tercet_idempotency::{Begin, Claim, Error, Fingerprint, Key, SCHEMA, begin, complete, purge};
use tercet_testbed::{eventually, postgres::TestDatabase};

const DAY: Duration = Duration::from_hours(24);

async fn database() -> TestDatabase {
    TestDatabase::from_sql("idempotency", &[SCHEMA]).await
}

fn claim(tenant: &str, key: &str, request: &str) -> Claim {
    Claim {
        tenant: tenant.to_owned(),
        method: "PlaceOrder".to_owned(),
        key: Key::parse(key).unwrap(),
        fingerprint: Fingerprint::new().field("request", request).finish(),
    }
}

async fn done(pool: &PgPool, claim: &Claim, response: &[u8]) {
    let mut tx = pool.begin().await.unwrap();
    assert_eq!(begin(&mut tx, claim, DAY).await.unwrap(), Begin::Fresh);
    complete(&mut tx, claim, response).await.unwrap();
    tx.commit().await.unwrap();
}

async fn ask(pool: &PgPool, claim: &Claim) -> Begin {
    let mut tx = pool.begin().await.unwrap();
    let answer = begin(&mut tx, claim, DAY).await.unwrap();
    tx.rollback().await.unwrap();
    answer
}

/// A rival that begins while the first transaction holds the key; it waits when this returns.
async fn rival(pool: &PgPool, claim: &Claim) -> tokio::task::JoinHandle<Begin> {
    let (rivals_pool, claim) = (pool.clone(), claim.clone());
    let rival = tokio::spawn(async move { ask(&rivals_pool, &claim).await });
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
    rival
}

#[tokio::test]
async fn a_repeated_call_gets_the_stored_response() {
    let database = database().await;
    let call = claim("default", "k", "a");
    done(database.pool(), &call, b"order 1").await;
    assert_eq!(
        ask(database.pool(), &call).await,
        Begin::Replay(b"order 1".to_vec())
    );
}

#[tokio::test]
async fn another_request_under_the_key_is_a_mistake_and_another_tenant_is_not() {
    let database = database().await;
    done(database.pool(), &claim("default", "k", "a"), b"").await;
    assert_eq!(
        ask(database.pool(), &claim("default", "k", "b")).await,
        Begin::Mismatch
    );
    assert_eq!(
        ask(database.pool(), &claim("other", "k", "b")).await,
        Begin::Fresh
    );
    let mut cancel = claim("default", "k", "b");
    cancel.method = "CancelOrder".to_owned();
    assert_eq!(ask(database.pool(), &cancel).await, Begin::Fresh);
}

#[tokio::test]
async fn a_call_that_failed_leaves_the_key_free() {
    let database = database().await;
    let call = claim("default", "k", "a");
    assert_eq!(ask(database.pool(), &call).await, Begin::Fresh); // rolled back
    assert_eq!(ask(database.pool(), &call).await, Begin::Fresh);
}

/// The second-statement rule: the insert that waited cannot see the winner, the select after it can.
#[tokio::test]
async fn a_rival_that_waited_sees_the_winners_response() {
    let database = database().await;
    let call = claim("default", "k", "a");
    let mut first = database.pool().begin().await.unwrap();
    assert_eq!(begin(&mut first, &call, DAY).await.unwrap(), Begin::Fresh);
    let rival = rival(database.pool(), &call).await;
    complete(&mut first, &call, b"order 1").await.unwrap();
    first.commit().await.unwrap();
    assert_eq!(rival.await.unwrap(), Begin::Replay(b"order 1".to_vec()));
}

#[tokio::test]
async fn a_rival_that_waited_for_another_request_sees_the_mismatch() {
    let database = database().await;
    let call = claim("default", "k", "a");
    let mut first = database.pool().begin().await.unwrap();
    begin(&mut first, &call, DAY).await.unwrap();
    let rival = rival(database.pool(), &claim("default", "k", "b")).await;
    complete(&mut first, &call, b"order 1").await.unwrap();
    first.commit().await.unwrap();
    assert_eq!(rival.await.unwrap(), Begin::Mismatch);
}

#[tokio::test]
async fn a_rival_that_waited_for_a_call_that_failed_leads() {
    let database = database().await;
    let call = claim("default", "k", "a");
    let mut first = database.pool().begin().await.unwrap();
    begin(&mut first, &call, DAY).await.unwrap();
    let rival = rival(database.pool(), &call).await;
    first.rollback().await.unwrap();
    assert_eq!(rival.await.unwrap(), Begin::Fresh);
}

#[tokio::test]
async fn a_rival_that_waits_too_long_is_told_that_the_call_is_in_flight() {
    let database = database().await;
    let call = claim("default", "k", "a");
    let mut first = database.pool().begin().await.unwrap();
    begin(&mut first, &call, DAY).await.unwrap();

    let mut rival = database.pool().begin().await.unwrap();
    sqlx::query("SET LOCAL lock_timeout = '50ms'")
        .execute(&mut *rival)
        .await
        .unwrap();
    assert_eq!(
        begin(&mut rival, &call, DAY).await.unwrap(),
        Begin::InFlight
    );
    rival.rollback().await.unwrap();
    first.rollback().await.unwrap();
}

#[tokio::test]
async fn an_expired_key_is_taken_over_by_one_of_two() {
    let database = database().await;
    let old = claim("default", "k", "a");
    done(database.pool(), &old, b"old").await;
    sqlx::query("UPDATE idempotency_keys SET expires_at = now() - interval '1 second'")
        .execute(database.pool())
        .await
        .unwrap();

    let new = claim("default", "k", "b");
    let mut first = database.pool().begin().await.unwrap();
    assert_eq!(begin(&mut first, &new, DAY).await.unwrap(), Begin::Fresh);
    let rival = rival(database.pool(), &new).await;
    complete(&mut first, &new, b"new").await.unwrap();
    first.commit().await.unwrap();
    assert_eq!(rival.await.unwrap(), Begin::Replay(b"new".to_vec()));
}

#[tokio::test]
async fn a_key_is_answered_once_and_only_by_its_claim() {
    let database = database().await;
    let call = claim("default", "k", "a");
    let mut tx = database.pool().begin().await.unwrap();
    assert!(matches!(
        complete(&mut tx, &call, b"").await,
        Err(Error::NotClaimed)
    ));
    begin(&mut tx, &call, DAY).await.unwrap();
    let other = claim("default", "k", "b");
    assert!(matches!(
        complete(&mut tx, &other, b"").await,
        Err(Error::NotClaimed)
    ));
    complete(&mut tx, &call, b"").await.unwrap();
    assert!(matches!(
        complete(&mut tx, &call, b"").await,
        Err(Error::NotClaimed)
    ));
}

#[tokio::test]
async fn expired_keys_are_purged_and_others_stay() {
    let database = database().await;
    for n in 0..3 {
        done(
            database.pool(),
            &claim("default", &format!("k{n}"), "a"),
            b"",
        )
        .await;
    }
    sqlx::query(
        "UPDATE idempotency_keys SET expires_at = now() - interval '1 s' WHERE key <> 'k0'",
    )
    .execute(database.pool())
    .await
    .unwrap();
    assert_eq!(purge(database.pool()).await.unwrap(), 2);
    let left: Vec<String> = sqlx::query_scalar("SELECT key FROM idempotency_keys")
        .fetch_all(database.pool())
        .await
        .unwrap();
    assert_eq!(left, ["k0"]);
}
