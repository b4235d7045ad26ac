//! The service as a process that dies at its worst moments, and as one that comes back.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use tercet_contracts::{
    payment::v1::{
        ChargePaymentRequest, GetPaymentRequest, RefundPaymentRequest, payment::State,
        payment_service_client::PaymentServiceClient,
    },
    saga::v1::{CommandContext, Direction, command_ack},
};
use tercet_payment::startup::MIGRATIONS;
use tercet_service_kit::client;
use tercet_testbed::{
    eventually, kafka,
    postgres::TestDatabase,
    process::{Process, ProcessOptions, Ready},
};
use tonic::transport::Channel;

use crate::{
    sim::Sim,
    world::{AMOUNT, STEP, Saga},
};

const WITHIN: Duration = Duration::from_secs(30);

struct Service {
    process: Process,
    client: PaymentServiceClient<Channel>,
    sim: Sim,
    database: TestDatabase,
    topic: String,
    _folder: tempfile::TempDir,
}

fn free_address() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

impl Service {
    async fn start(crash_at: Option<&str>) -> Self {
        let database = TestDatabase::migrated("payment", &MIGRATIONS).await;
        let prefix = kafka::unique("payment");
        let topic = format!("{prefix}.payment.events.v1");
        kafka::create_topic(&topic, 3).await;
        let sim = Sim::start().await;
        let folder = tempfile::tempdir().unwrap();
        let (grpc, admin) = (free_address(), free_address());
        let mut variables = vec![
            ("PAYMENT_GRPC_ADDR", grpc.to_string()),
            ("PAYMENT_ADMIN_ADDR", admin.to_string()),
            ("PAYMENT_DATABASE_URL", database.url_as("payment_service")),
            ("PAYMENT_MIGRATE", "off".to_owned()),
            ("KAFKA_BROKERS", kafka::brokers()),
            ("TOPIC_PREFIX", prefix.clone()),
            ("INSTANCE_ID", prefix),
            ("PAYMENT_GATEWAY_URL", sim.url()),
            ("PAYMENT_GATEWAY_TIMEOUT_MS", "500".to_owned()),
            ("PAYMENT_RESOLVE_AFTER_MS", "500".to_owned()),
        ];
        variables.extend(crash_at.map(|point| ("TERCET_CRASH_AT", point.to_owned())));
        let mut process = Process::start(ProcessOptions {
            name: "payment-service".to_owned(),
            program: PathBuf::from(env!("CARGO_BIN_EXE_payment-service")),
            arguments: Vec::new(),
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            log: folder.path().join("payment.log"),
            ready: Ready::Http {
                address: admin,
                path: "/readyz".to_owned(),
            },
        })
        .unwrap();
        process.wait_ready(WITHIN).await.unwrap();
        let channel = client::channel(&format!("http://{grpc}")).unwrap();
        Self {
            process,
            client: PaymentServiceClient::new(channel),
            sim,
            database,
            topic,
            _folder: folder,
        }
    }

    /// It dies at its point, and comes back without one.
    async fn dies_and_returns(&mut self) {
        let status = self.process.wait_ended(WITHIN).await.unwrap();
        assert!(!status.success());
        self.process.remove_variable("TERCET_CRASH_AT");
        self.process.restart().await.unwrap();
        self.process.wait_ready(WITHIN).await.unwrap();
    }

    async fn reaches(&mut self, saga: Saga, state: State) {
        let client = self.client.clone();
        eventually(&format!("{state:?}"), WITHIN, async || {
            let request = GetPaymentRequest {
                payment_id: saga.payment.to_string(),
            };
            let answer = client.clone().get_payment(request).await.ok()?;
            let payment = answer.into_inner().payment?;
            (payment.state() == state).then_some(())
        })
        .await;
    }

    async fn charge(&mut self, saga: Saga, card: &str) -> Option<command_ack::State> {
        let request = ChargePaymentRequest {
            context: Some(context(saga, Direction::Forward)),
            payment_id: saga.payment.to_string(),
            order_id: saga.order.to_string(),
            amount_minor: AMOUNT,
            currency: "EUR".into(),
            payment_method: card.into(),
        };
        let answer = self
            .client
            .charge_payment(client::request(request, Duration::from_secs(5)))
            .await;
        Some(answer.ok()?.into_inner().ack?.state())
    }

    async fn refund(&mut self, saga: Saga) -> Option<command_ack::State> {
        let request = RefundPaymentRequest {
            context: Some(context(saga, Direction::Backward)),
            payment_id: saga.payment.to_string(),
            order_id: saga.order.to_string(),
            amount_minor: AMOUNT,
            currency: "EUR".into(),
        };
        let answer = self
            .client
            .refund_payment(client::request(request, Duration::from_secs(5)))
            .await;
        Some(answer.ok()?.into_inner().ack?.state())
    }

    /// The types of what was published of a payment, each event once.
    async fn published(&self, saga: Saga, count: usize) -> Vec<String> {
        eventually("the events are published", WITHIN, async || {
            let mut seen = std::collections::BTreeMap::new();
            for record in kafka::read_all(&self.topic).await {
                if record.key.as_deref() == Some(&saga.payment.to_string()) {
                    let version: i64 = record.headers["ce_aggregateversion"].parse().unwrap();
                    let name = record.headers["ce_type"].clone();
                    assert_eq!(record.headers["ce_sagaid"], saga.id.to_string());
                    if let Some(before) =
                        seen.insert(version, (record.headers["ce_id"].clone(), name))
                    {
                        assert_eq!(before.0, record.headers["ce_id"]);
                    }
                }
            }
            (seen.len() >= count).then(|| {
                let names = seen.into_values().map(|(_, name)| name);
                names
                    .map(|name| name.replace("tercet.events.v1.", ""))
                    .collect()
            })
        })
        .await
    }
}

fn context(saga: Saga, direction: Direction) -> CommandContext {
    CommandContext {
        saga_id: saga.id.to_string(),
        command_id: tercet_contracts::command::command_id(saga.id, STEP, direction),
        step: STEP.into(),
        direction: direction.into(),
        epoch: 1,
    }
}

async fn charge_dying_at(point: &str) {
    let mut service = Service::start(Some(point)).await;
    let saga = Saga::new();
    service.charge(saga, "pm_card_visa").await;
    service.dies_and_returns().await;
    service.reaches(saga, State::Charged).await;
    let account = service.sim.account(saga.payment).await;
    account.assert_charged_once(saga.payment);
    assert_eq!(service.published(saga, 1).await, ["PaymentCharged"]);
    let again = service.charge(saga, "pm_card_visa").await;
    assert_eq!(again, Some(command_ack::State::Decided));
}

#[tokio::test]
async fn a_charge_survives_a_crash_after_it_was_taken_on() {
    charge_dying_at("payment.after_charge_open").await;
}

#[tokio::test]
async fn a_charge_survives_a_crash_after_the_processor_took_the_money() {
    charge_dying_at("payment.after_gateway_confirm").await;
}

#[tokio::test]
async fn a_charge_survives_a_crash_after_it_was_written_down() {
    charge_dying_at("payment.after_charge_mark").await;
}

async fn refund_dying_at(point: &str) {
    let mut service = Service::start(Some(point)).await;
    let saga = Saga::new();
    service.charge(saga, "pm_card_visa").await;
    service.reaches(saga, State::Charged).await;
    service.refund(saga).await;
    service.dies_and_returns().await;
    service.reaches(saga, State::Refunded).await;
    let account = service.sim.account(saga.payment).await;
    account.assert_refunded_once(saga.payment, &saga.payment.to_string());
    assert_eq!(account.refunds.len(), 1);
    let published = service.published(saga, 2).await;
    assert_eq!(published, ["PaymentCharged", "PaymentRefunded"]);
    let again = service.refund(saga).await;
    assert_eq!(again, Some(command_ack::State::Decided));
}

#[tokio::test]
async fn a_refund_survives_a_crash_after_the_money_went_back() {
    refund_dying_at("payment.after_gateway_refund").await;
}

#[tokio::test]
async fn a_refund_survives_a_crash_after_it_was_taken_on() {
    refund_dying_at("payment.after_refund_open").await;
}

#[tokio::test]
async fn a_refund_survives_a_crash_after_it_was_written_down() {
    refund_dying_at("payment.after_refund_mark").await;
}

#[tokio::test]
async fn a_stop_ends_what_is_at_the_processor_and_publishes_it() {
    let mut service = Service::start(None).await;
    let saga = Saga::new();
    service.charge(saga, "pm_sim_slow").await;
    let status = service.process.terminate(WITHIN).await.unwrap();
    assert!(status.success(), "{status}");
    let pending: i64 = sqlx::query_scalar("SELECT count(*) FROM outbox_pending")
        .fetch_one(service.database.pool())
        .await
        .unwrap();
    assert_eq!(pending, 0);
    assert_eq!(service.published(saga, 1).await, ["PaymentCharged"]);
}
