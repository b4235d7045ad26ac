//! A database, events, and a broker that says what the test tells it to.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use sqlx::PgPool;
use tercet_outbox::{
    Appended, NewEvent, PublishError, Publisher, Record, Relay, RelayOptions, SCHEMA, Wake, enqueue,
};
use tercet_testbed::postgres::TestDatabase;
use uuid::Uuid;

pub(crate) async fn database() -> TestDatabase {
    TestDatabase::from_sql("outbox", &[SCHEMA]).await
}

pub(crate) fn event(aggregate: &str, version: i64) -> NewEvent {
    NewEvent {
        event_id: Uuid::now_v7(),
        aggregate_type: "order".to_owned(),
        aggregate_id: aggregate.to_owned(),
        aggregate_version: version,
        topic: "orders".to_owned(),
        event_type: "test.v1.Happened".to_owned(),
        payload: serde_json::json!({ "n": version.to_string() }),
        headers: BTreeMap::from([("ce_sagaid".to_owned(), "saga".to_owned())]),
    }
}

/// One event in a transaction of its own; answers with its row number.
pub(crate) async fn committed(pool: &PgPool, aggregate: &str, version: i64) -> i64 {
    let mut tx = pool.begin().await.unwrap();
    let Appended { id, .. } = enqueue(&mut tx, event(aggregate, version)).await.unwrap();
    tx.commit().await.unwrap();
    id
}

/// Quick enough for tests: a failed event is due again at once.
pub(crate) fn options(owner: &str) -> RelayOptions {
    let mut options = RelayOptions::new(owner, "//test/outbox");
    options.backoff_first = Duration::ZERO;
    options.backoff_unavailable = Duration::ZERO;
    options
}

pub(crate) fn relay(pool: &PgPool, broker: &Broker, options: RelayOptions) -> Relay<Broker> {
    let (relay, _wake): (_, Wake) = Relay::new(pool, broker.clone(), options).unwrap();
    relay
}

pub(crate) async fn pending(pool: &PgPool) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM outbox_pending")
        .fetch_one(pool)
        .await
        .unwrap()
}

/// What the broker does with a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// Writes it, and says so.
    Ack,
    /// Writes it, and its word is lost.
    WriteAndLoseTheAck,
    /// Does not write it.
    Fail(PublishError),
    /// Writes it and says so, but only when the test lets go.
    Hang,
}

/// A broker of a few lines, shared by the relays of one test.
#[derive(Debug, Clone, Default)]
pub(crate) struct Broker(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    script: HashMap<(String, String), VecDeque<Answer>>,
    /// (aggregate, version), as a reader of the topic sees them.
    topic: Vec<(String, String)>,
    records: Vec<Record>,
    hanging: Vec<tokio::sync::oneshot::Sender<()>>,
    /// Every n-th record fails, every n-th is written without a word.
    flaky: Option<usize>,
    asked: usize,
    rebuilt: usize,
}

impl Broker {
    /// The next answers for this event; afterwards it is acknowledged.
    pub(crate) fn answers(&self, aggregate: &str, version: i64, answers: &[Answer]) -> &Self {
        let key = (aggregate.to_owned(), version.to_string());
        self.0
            .lock()
            .unwrap()
            .script
            .insert(key, answers.iter().cloned().collect());
        self
    }

    pub(crate) fn flaky(&self, every: usize) {
        self.0.lock().unwrap().flaky = Some(every);
    }

    pub(crate) fn topic(&self) -> Vec<(String, String)> {
        self.0.lock().unwrap().topic.clone()
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        self.0.lock().unwrap().records.clone()
    }

    pub(crate) fn rebuilt(&self) -> usize {
        self.0.lock().unwrap().rebuilt
    }

    pub(crate) fn hanging(&self) -> usize {
        self.0.lock().unwrap().hanging.len()
    }

    pub(crate) fn let_go(&self) {
        for hanging in self.0.lock().unwrap().hanging.drain(..) {
            let _ = hanging.send(());
        }
    }

    /// The answer, and for `Hang` what to wait for. Answers are asked for, so each is given once.
    fn take(&self, record: &Record) -> (Answer, Option<tokio::sync::oneshot::Receiver<()>>) {
        let mut state = self.0.lock().unwrap();
        let key = (
            record.key.clone(),
            record.headers["ce_aggregateversion"].clone(),
        );
        state.asked += 1;
        let scripted = state.script.get_mut(&key).and_then(VecDeque::pop_front);
        let answer = scripted.unwrap_or(match state.flaky {
            Some(every) if state.asked.is_multiple_of(every) => unavailable(),
            Some(every) if state.asked % every == every / 2 => Answer::WriteAndLoseTheAck,
            _ => Answer::Ack,
        });
        if !matches!(answer, Answer::Fail(_)) {
            state.topic.push(key);
            state.records.push(record.clone());
        }
        let wait = (answer == Answer::Hang).then(|| {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            state.hanging.push(sender);
            receiver
        });
        (answer, wait)
    }
}

impl Publisher for Broker {
    async fn publish(&self, record: Record) -> Result<(), PublishError> {
        let (answer, wait) = self.take(&record);
        if let Some(wait) = wait {
            return wait
                .await
                .map_err(|_| PublishError::Unavailable("purged".to_owned()));
        }
        match answer {
            Answer::Ack | Answer::Hang => Ok(()),
            Answer::WriteAndLoseTheAck => Err(PublishError::Unavailable(
                "timed out, possibly written".to_owned(),
            )),
            Answer::Fail(error) => Err(error),
        }
    }

    async fn rebuild(&self) -> Result<(), PublishError> {
        let mut state = self.0.lock().unwrap();
        state.rebuilt += 1;
        state.hanging.clear(); // purged: their reports are errors
        Ok(())
    }

    fn delivery_timeout(&self) -> Duration {
        Duration::from_millis(100)
    }
}

pub(crate) fn refused() -> Answer {
    Answer::Fail(PublishError::Refused("too large".to_owned()))
}

pub(crate) fn unavailable() -> Answer {
    Answer::Fail(PublishError::Unavailable("no leader".to_owned()))
}
