//! A database, a way to wait for a waiting session, and a handler that keeps a journal.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};

use rdkafka::{
    ClientConfig,
    message::{Header, OwnedHeaders},
    producer::{FutureProducer, FutureRecord},
};
use sqlx::PgPool;
use tercet_inbox::{
    Consumer, ConsumerOptions, Envelope, Error, GUARD_SCHEMA, HandleError, Handled, Handler,
    INBOX_SCHEMA, Seen, record,
};
use tercet_testbed::{eventually, kafka, postgres::TestDatabase};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const EFFECTS: &str = "CREATE TABLE effects (n bigint GENERATED ALWAYS AS IDENTITY, message text)";

pub(crate) async fn database() -> TestDatabase {
    TestDatabase::from_sql("inbox", &[INBOX_SCHEMA, GUARD_SCHEMA, EFFECTS]).await
}

/// Returns when a session of this database waits for another's lock.
pub(crate) async fn waits_for_a_lock(pool: &PgPool) {
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

/// What a message makes the handler do, by its payload; others take effect.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script(Arc<Mutex<HashMap<String, Act>>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Fail,
    Poison,
    Panic,
    Hang,
}

impl Script {
    pub(crate) fn set(&self, payload: &str, act: Act) {
        self.0.lock().unwrap().insert(payload.to_owned(), act);
    }

    pub(crate) fn unset(&self, payload: &str) {
        self.0.lock().unwrap().remove(payload);
    }
}

/// Writes each message's payload into `effects`, once, in the transaction of its inbox row.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    pub(crate) pool: PgPool,
    pub(crate) script: Script,
}

impl Handler for Journal {
    async fn handle(&self, envelope: Envelope) -> Result<Handled, HandleError> {
        let payload = String::from_utf8_lossy(&envelope.payload).into_owned();
        let act = self.script.0.lock().unwrap().get(&payload).copied();
        match act {
            Some(Act::Fail) => return Err(HandleError::Transient("told to fail".into())),
            Some(Act::Poison) => return Err(HandleError::Poison("told to be poison".into())),
            Some(Act::Panic) => panic!("told to panic"),
            Some(Act::Hang) => std::future::pending::<()>().await,
            None => {}
        }
        let Some(id) = envelope.ce_id() else {
            return Ok(Handled::Skipped);
        };
        self.effect(id, &payload)
            .await
            .map_err(|error| HandleError::Transient(error.into()))?;
        Ok(Handled::Done)
    }
}

impl Journal {
    async fn effect(&self, id: Uuid, payload: &str) -> Result<(), Error> {
        let mut tx = self.pool.begin().await?;
        if record(&mut tx, "test", id).await? == Seen::First {
            sqlx::query("INSERT INTO effects (message) VALUES ($1)")
                .bind(payload)
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

pub(crate) async fn effects(pool: &PgPool) -> Vec<String> {
    sqlx::query_scalar("SELECT message FROM effects ORDER BY n")
        .fetch_all(pool)
        .await
        .unwrap()
}

pub(crate) async fn effects_are(pool: &PgPool, count: usize, within: u64) -> Vec<String> {
    let what = format!("{count} effects");
    eventually(&what, Duration::from_secs(within), async || {
        let found = effects(pool).await;
        (found.len() >= count).then_some(found)
    })
    .await
}

pub(crate) async fn dead_letters(pool: &PgPool) -> Vec<(Vec<u8>, String)> {
    sqlx::query_as("SELECT payload, error FROM dead_letters ORDER BY id")
        .fetch_all(pool)
        .await
        .unwrap()
}

/// A consumer that runs.
pub(crate) struct Running {
    stop: CancellationToken,
    task: tokio::task::JoinHandle<Result<(), Error>>,
}

impl Running {
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap().unwrap();
    }
}

pub(crate) fn options(group: &str, topic: &str, instance: &str) -> ConsumerOptions {
    let mut options = ConsumerOptions::new(
        kafka::brokers(),
        group,
        vec![topic.to_owned()],
        format!("{group}-{instance}"),
    );
    options.session_timeout = Duration::from_secs(6);
    options.backoff_max = Duration::from_millis(200);
    options
}

pub(crate) fn start(pool: &PgPool, script: &Script, options: ConsumerOptions) -> Running {
    let journal = Journal {
        pool: pool.clone(),
        script: script.clone(),
    };
    let consumer = Consumer::new(options, pool.clone(), journal);
    let stop = CancellationToken::new();
    let task = tokio::spawn(consumer.run(stop.clone()));
    Running { stop, task }
}

/// Sends one message for each payload, all under `key`; answers with their ids.
pub(crate) async fn send(topic: &str, key: &str, payloads: &[&str]) -> Vec<Uuid> {
    let mut ids = Vec::new();
    for payload in payloads {
        let id = Uuid::now_v7();
        send_one(
            topic,
            key,
            payload,
            &BTreeMap::from([("ce_id", id.to_string())]),
        )
        .await;
        ids.push(id);
    }
    ids
}

pub(crate) async fn send_one(
    topic: &str,
    key: &str,
    payload: &str,
    headers: &BTreeMap<&str, String>,
) {
    let producer: FutureProducer = ClientConfig::new()
        .set("bootstrap.servers", kafka::brokers())
        .set("linger.ms", "0")
        .create()
        .unwrap();
    let headers = headers
        .iter()
        .fold(OwnedHeaders::new(), |headers, (key, value)| {
            headers.insert(Header {
                key,
                value: Some(value),
            })
        });
    let record = FutureRecord::to(topic)
        .key(key)
        .payload(payload)
        .headers(headers);
    producer
        .send(record, Duration::from_secs(10))
        .await
        .unwrap();
}
