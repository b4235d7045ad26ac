//! A database with sagas in it, an engine over it, and looks at both.

use std::time::Duration;

use sqlx::PgPool;
use tercet_inbox::INBOX_SCHEMA;
use tercet_saga::{Definition, Timing};
use tercet_saga_postgres::{Engine, EngineOptions, SCHEMA, SagaRef};
use tercet_testbed::{eventually, postgres::TestDatabase};
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::trip::{Data, Sent, Trip, World};

pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
const NOTES: &str = "CREATE TABLE notes (trip uuid NOT NULL, note text NOT NULL);";

pub(crate) struct Bench {
    pub(crate) database: TestDatabase,
    pub(crate) world: World,
    pub(crate) sent: mpsc::UnboundedReceiver<Sent>,
}

/// A running engine; stopped, and waited for, by [`Running::stop`].
pub(crate) struct Running {
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        timeout(PATIENCE, self.task).await.unwrap().unwrap();
    }
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let database = TestDatabase::from_sql("sagas", &[SCHEMA, INBOX_SCHEMA, NOTES]).await;
        let (world, sent) = World::new(database.pool().clone());
        Self {
            database,
            world,
            sent,
        }
    }

    pub(crate) fn pool(&self) -> &PgPool {
        self.database.pool()
    }

    /// An engine whose own loop does nothing for as long as a test lasts: the test fires timers.
    pub(crate) fn engine(&self, owner: &str) -> Engine<Trip, World> {
        self.engine_with(owner, Timing::default())
    }

    pub(crate) fn engine_with(&self, owner: &str, timing: Timing) -> Engine<Trip, World> {
        self.engine_of(options(owner), timing)
    }

    pub(crate) fn engine_of(&self, options: EngineOptions, timing: Timing) -> Engine<Trip, World> {
        let definition = Definition::build(timing).unwrap();
        Engine::new(self.pool().clone(), definition, self.world.clone(), options)
    }

    /// Begins a saga and hands on its first command.
    pub(crate) async fn begun(&self, engine: &Engine<Trip, World>) -> Uuid {
        let (saga_id, follow_up) = self.saved(engine).await;
        engine.follow_up(follow_up);
        saga_id
    }

    /// Begins a saga, as a process that dies right after the commit would.
    pub(crate) async fn saved(
        &self,
        engine: &Engine<Trip, World>,
    ) -> (Uuid, tercet_saga_postgres::FollowUp<Trip>) {
        let saga = trip();
        let mut tx = self.pool().begin().await.unwrap();
        let data = Data {
            to: "Genoa".to_owned(),
        };
        let follow_up = engine.start(&mut tx, saga.clone(), data).await.unwrap();
        tx.commit().await.unwrap();
        (saga.saga_id, follow_up)
    }

    pub(crate) async fn next_sent(&mut self) -> Sent {
        timeout(PATIENCE, self.sent.recv())
            .await
            .expect("a command is sent")
            .unwrap()
    }

    /// Nothing was sent, and nothing that is at work will be: ask after the engine has stopped.
    pub(crate) fn assert_nothing_sent(&mut self) {
        assert!(self.sent.try_recv().is_err(), "a command was sent");
    }

    pub(crate) async fn text(&self, saga_id: Uuid, column: &str) -> Option<String> {
        let sql = format!("SELECT {column}::text FROM sagas WHERE id = $1");
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
            .bind(saga_id)
            .fetch_one(self.pool())
            .await
            .unwrap()
    }

    pub(crate) async fn status(&self, saga_id: Uuid) -> String {
        self.text(saga_id, "status").await.unwrap()
    }

    pub(crate) async fn becomes(&self, saga_id: Uuid, column: &str, value: &str) {
        let what = format!("{column} = {value}");
        eventually(&what, PATIENCE, async || {
            let now = self.text(saga_id, column).await;
            (now.as_deref() == Some(value)).then_some(())
        })
        .await;
    }

    pub(crate) async fn log(&self, saga_id: Uuid) -> Vec<String> {
        sqlx::query_scalar("SELECT entry FROM saga_log WHERE saga_id = $1 ORDER BY seq")
            .bind(saga_id)
            .fetch_all(self.pool())
            .await
            .unwrap()
    }

    pub(crate) async fn notes(&self) -> Vec<String> {
        sqlx::query_scalar("SELECT note FROM notes")
            .fetch_all(self.pool())
            .await
            .unwrap()
    }

    pub(crate) async fn execute(&self, sql: &str, saga_id: Uuid) {
        let affected = sqlx::query(sqlx::AssertSqlSafe(sql.to_owned()))
            .bind(saga_id)
            .execute(self.pool())
            .await
            .unwrap()
            .rows_affected();
        assert_eq!(affected, 1);
    }

    /// A transaction that holds the saga's row.
    pub(crate) async fn locks(&self, saga_id: Uuid) -> sqlx::Transaction<'static, sqlx::Postgres> {
        let mut tx = self.pool().begin().await.unwrap();
        sqlx::query("SELECT FROM sagas WHERE id = $1 FOR UPDATE")
            .bind(saga_id)
            .execute(&mut *tx)
            .await
            .unwrap();
        tx
    }

    /// Makes the timer due now, as if the time had passed.
    pub(crate) async fn time_passes(&self, saga_id: Uuid) {
        let sql = "UPDATE sagas SET next_action_at = now() - interval '1 ms',
                          step_since = step_since - interval '10 s' WHERE id = $1";
        self.execute(sql, saga_id).await;
    }
}

/// The test fires the timers.
pub(crate) fn options(owner: &str) -> EngineOptions {
    let mut options = EngineOptions::new(owner);
    options.timer_interval = Duration::from_hours(1);
    options.resume_interval = Duration::from_hours(1);
    options
}

pub(crate) fn trip() -> SagaRef {
    SagaRef {
        saga_id: Uuid::now_v7(),
        subject_id: Uuid::now_v7(),
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
    }
}

pub(crate) fn run(engine: &Engine<Trip, World>) -> Running {
    let shutdown = CancellationToken::new();
    let (engine, until) = (engine.clone(), shutdown.clone());
    let task = tokio::spawn(async move { engine.run(until).await });
    Running { shutdown, task }
}

/// Returns once a session of this database waits for a lock.
pub(crate) async fn waits_for_a_lock(pool: &PgPool) {
    eventually("a session that waits for a lock", PATIENCE, async || {
        let waiting: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
        .fetch_one(pool)
        .await
        .unwrap();
        (waiting > 0).then_some(())
    })
    .await;
}
