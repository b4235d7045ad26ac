//! One payment database, one processor, and workers over them.

use std::time::Duration;

use secrecy::SecretString;
use serde_json::Value;
use sqlx::{PgPool, Row as _};
use tercet_inbox::guard::CommandKey;
use tercet_outbox::Wake;
use tercet_payment::{
    Ack, App, ChargePayment, Error, Intake, Lease, RefundPayment, Worker,
    domain::{Currency, Money, PaymentMethod},
    gateway::HttpGateway,
    handover,
    startup::MIGRATIONS,
};
use tercet_testbed::{eventually, postgres::TestDatabase};
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::sim::Sim;

pub(crate) const STEP: &str = "charge-payment";
pub(crate) const TOPIC: &str = "test.payment.events.v1";
pub(crate) const AMOUNT: i64 = 3_680;
/// How long a call may take here: the processor's hanging cards hang for longer.
pub(crate) const PATIENCE: Duration = Duration::from_millis(250);
pub(crate) const LEASE: Duration = Duration::from_millis(400);
const CYCLE: Duration = Duration::from_millis(200);
const WITHIN: Duration = Duration::from_secs(15);

/// A worker that the test leads step by step, and the use cases that it shares with the handlers.
pub(crate) struct Instance {
    pub(crate) app: App,
    pub(crate) worker: Worker<HttpGateway>,
    intake: Option<Intake>,
}

pub(crate) struct World {
    pub(crate) sim: Sim,
    pub(crate) database: TestDatabase,
    pub(crate) service_pool: PgPool,
    tasks: JoinSet<()>,
    shutdown: CancellationToken,
    _guard: DropGuard,
}

impl World {
    pub(crate) async fn new() -> Self {
        let database = TestDatabase::migrated("payment", &MIGRATIONS).await;
        let service_pool = database.pool_as("payment_service").await;
        let shutdown = CancellationToken::new();
        Self {
            sim: Sim::start().await,
            service_pool,
            database,
            tasks: JoinSet::new(),
            _guard: shutdown.clone().drop_guard(),
            shutdown,
        }
    }

    pub(crate) fn instance(&self, owner: &str) -> Instance {
        self.instance_at(owner, &self.sim.url())
    }

    pub(crate) fn instance_at(&self, owner: &str, gateway: &str) -> Instance {
        self.instance_with(owner, gateway, PATIENCE)
    }

    pub(crate) fn instance_with(&self, owner: &str, gateway: &str, patience: Duration) -> Instance {
        let (handover, intake) = handover();
        let lease = Lease {
            owner: owner.to_owned(),
            length: LEASE,
        };
        let pool = self.service_pool.clone();
        let app = App::new(pool, Wake::default(), TOPIC.to_owned(), lease, handover);
        let key = SecretString::from("sk_test_1");
        let gateway = HttpGateway::new(gateway, key, patience).unwrap();
        Instance {
            worker: Worker::new(app.clone(), gateway, CYCLE),
            app,
            intake: Some(intake),
        }
    }

    /// A world whose one instance works by itself.
    pub(crate) async fn running() -> (Self, App) {
        let mut world = Self::new().await;
        let app = world.run(world.instance("a"));
        (world, app)
    }

    pub(crate) fn run(&mut self, mut instance: Instance) -> App {
        let intake = instance.intake.take().unwrap();
        let worker = instance.worker.run(intake, self.shutdown.clone());
        self.tasks.spawn(worker);
        instance.app
    }

    /// Ends what runs, after everything that it had begun.
    pub(crate) async fn stop(&mut self) {
        self.shutdown.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
    }

    pub(crate) async fn status(&self, payment: Uuid) -> Option<String> {
        sqlx::query_scalar("SELECT status FROM payments WHERE payment_id = $1")
            .bind(payment)
            .fetch_optional(self.database.pool())
            .await
            .unwrap()
    }

    pub(crate) async fn reaches(&self, payment: Uuid, status: &str) {
        eventually(&format!("payment is {status}"), WITHIN, async || {
            (self.status(payment).await.as_deref() == Some(status)).then_some(())
        })
        .await;
    }

    pub(crate) async fn execute(&self, sql: &'static str, payment: Uuid) {
        sqlx::query(sql)
            .bind(payment)
            .execute(self.database.pool())
            .await
            .unwrap();
    }

    /// Makes it due now, and nobody's.
    pub(crate) async fn abandon(&self, payment: Uuid) {
        let sql = "UPDATE payments SET next_attempt_at = now(), lease_until = '-infinity'
                    WHERE payment_id = $1";
        self.execute(sql, payment).await;
    }

    /// Everything that was told of a payment, in the order of its versions.
    pub(crate) async fn events(&self, payment: Uuid) -> Vec<Told> {
        let rows = sqlx::query(
            "SELECT event_id, aggregate_version, event_type, payload, headers FROM outbox_events
              WHERE aggregate_type = 'payment' AND aggregate_id = $1 ORDER BY aggregate_version",
        )
        .bind(payment.to_string())
        .fetch_all(self.database.pool())
        .await
        .unwrap();
        let told = rows.iter().enumerate().map(|(at, row)| {
            let version: i64 = row.get("aggregate_version");
            assert_eq!(version, i64::try_from(at).unwrap() + 1, "no gap");
            let event_type: String = row.get("event_type");
            Told {
                event_id: row.get("event_id"),
                name: event_type
                    .strip_prefix("tercet.events.v1.")
                    .unwrap()
                    .to_owned(),
                payload: row.get("payload"),
                headers: row.get("headers"),
            }
        });
        told.collect()
    }

    pub(crate) async fn event_names(&self, payment: Uuid) -> Vec<String> {
        let events = self.events(payment).await.into_iter();
        events.map(|event| event.name).collect()
    }

    /// The calls to the processor that were written down: `CONFIRM SUCCEEDED`.
    pub(crate) async fn calls(&self, payment: Uuid) -> Vec<String> {
        sqlx::query_scalar(
            "SELECT operation || ' ' || result FROM gateway_attempts WHERE payment_id = $1 ORDER BY id",
        )
        .bind(payment)
        .fetch_all(self.database.pool())
        .await
        .unwrap()
    }
}

#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) event_id: Uuid,
    pub(crate) name: String,
    pub(crate) payload: Value,
    pub(crate) headers: Value,
}

/// What an order saga knows of its payment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Saga {
    pub(crate) id: Uuid,
    pub(crate) payment: Uuid,
    pub(crate) order: Uuid,
}

impl Saga {
    pub(crate) fn new() -> Self {
        Self {
            id: Uuid::now_v7(),
            payment: Uuid::now_v7(),
            order: Uuid::now_v7(),
        }
    }

    pub(crate) fn key(self, direction: &str, epoch: i64) -> CommandKey {
        CommandKey {
            saga_id: self.id,
            step: STEP.to_owned(),
            command_id: format!("{}:{STEP}:{direction}", self.id),
            epoch,
        }
    }

    pub(crate) fn charge(self, card: &str) -> ChargePayment {
        ChargePayment {
            command: self.key("forward", 1),
            payment_id: self.payment.into(),
            order_id: self.order.into(),
            amount: amount(),
            payment_method: PaymentMethod::parse(card).unwrap(),
        }
    }

    pub(crate) fn refund(self) -> RefundPayment {
        RefundPayment {
            command: self.key("backward", 1),
            payment_id: self.payment.into(),
            order_id: self.order.into(),
            amount: amount(),
        }
    }

    /// Charges `card` and waits until that is done.
    pub(crate) async fn charged(self, world: &World, app: &App, card: &str) -> Self {
        assert_eq!(accepted(app.charge_payment(self.charge(card)).await), ());
        world.reaches(self.payment, "CHARGED").await;
        self
    }
}

pub(crate) fn amount() -> Money {
    Money::new(AMOUNT, Currency::parse("EUR").unwrap()).unwrap()
}

pub(crate) fn accepted(ack: Result<Ack, Error>) {
    assert_eq!(ack.unwrap(), Ack::Accepted);
}
