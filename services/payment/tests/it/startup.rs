//! The whole service in this process: a command by gRPC leads to an event on Kafka.

use std::{process::ExitCode, time::Duration};

use clap::Parser as _;
use tercet_contracts::{
    payment::v1::{
        self as pb, payment::State as PaymentState, payment_service_client::PaymentServiceClient,
    },
    saga::v1::{CommandAck, CommandContext, Direction, command_ack::State},
};
use tercet_grpc_status::{Code, Decoded, decode};
use tercet_payment::{settings::Settings, startup::build};
use tercet_service_kit::{
    admin_http::healthcheck,
    client::{channel, request},
    shutdown::{Ended, Shutdown},
};
use tercet_testbed::{
    eventually, kafka,
    postgres::{TestDatabase, create_roles, server_url},
};
use tokio::task::JoinHandle;
use tonic::{Request, Status, transport::Channel};
use uuid::Uuid;

use crate::{
    sim::Sim,
    world::{AMOUNT, STEP, Saga},
};

const WITHIN: Duration = Duration::from_secs(5);

struct Service {
    client: PaymentServiceClient<Channel>,
    admin_addr: std::net::SocketAddr,
    topic: String,
    shutdown: Shutdown,
    running: JoinHandle<Result<(), Ended>>,
    sim: Sim,
    _database: TestDatabase,
}

impl Service {
    async fn start() -> Self {
        let database = empty_database().await;
        let sim = Sim::start().await;
        let prefix = kafka::unique("money");
        let topic = format!("{prefix}.payment.events.v1");
        kafka::create_topic(&topic, 3).await;
        let settings = Settings::parse_from([
            "payment-service",
            "--grpc-addr=127.0.0.1:0",
            "--admin-addr=127.0.0.1:0",
            "--gateway-timeout-ms=500",
            "--resolve-after-ms=500",
            &format!("--gateway-url={}", sim.url()),
            &format!("--database-url={}", database.url_as("payment_service")),
            &format!("--migrate-url={}", database.url_as("payment_owner")),
            &format!("--kafka-brokers={}", kafka::brokers()),
            &format!("--topic-prefix={prefix}"),
            &format!("--instance-id={prefix}"),
        ]);
        let shutdown = Shutdown::new(Duration::from_secs(20));
        let application = build(settings, shutdown.clone()).await.unwrap().unwrap();
        let url = format!("http://{}", application.grpc_addr);
        Self {
            client: PaymentServiceClient::new(channel(&url).unwrap()),
            admin_addr: application.admin_addr,
            topic,
            shutdown,
            running: tokio::spawn(application.run()),
            sim,
            _database: database,
        }
    }

    async fn charge(&mut self, saga: Saga) -> CommandAck {
        let call = self
            .client
            .charge_payment(request(charge(saga), WITHIN))
            .await;
        call.unwrap().into_inner().ack.unwrap()
    }

    async fn refund(&mut self, saga: Saga) -> CommandAck {
        let call = self
            .client
            .refund_payment(request(refund(saga), WITHIN))
            .await;
        call.unwrap().into_inner().ack.unwrap()
    }

    async fn get(&self, saga: Saga) -> pb::Payment {
        let payment_id = saga.payment.to_string();
        let request = pb::GetPaymentRequest { payment_id };
        let found = self.client.clone().get_payment(request).await.unwrap();
        found.into_inner().payment.unwrap()
    }

    async fn reaches(&self, saga: Saga, state: PaymentState) -> pb::Payment {
        eventually(&format!("{state:?}"), WITHIN, async || {
            let payment = self.get(saga).await;
            (payment.state() == state).then_some(payment)
        })
        .await
    }

    async fn on_topic(&self, saga: Saga, count: usize) -> Vec<kafka::Record> {
        let what = format!("{count} events on {}", self.topic);
        eventually(&what, Duration::from_secs(20), async || {
            let mut records = kafka::read_all(&self.topic).await;
            records.retain(|record| record.key.as_deref() == Some(&saga.payment.to_string()));
            (records.len() >= count).then_some(records)
        })
        .await
    }

    async fn stop(self) {
        self.shutdown.begin();
        self.running.await.unwrap().unwrap();
    }
}

/// As a deployment prepares it: nothing in it, owned by the role that migrates.
async fn empty_database() -> TestDatabase {
    create_roles(&server_url()).await.unwrap();
    let database = TestDatabase::from_sql("payment-empty", &[]).await;
    let owned = "DO $$ BEGIN EXECUTE format(
        'ALTER DATABASE %I OWNER TO payment_owner', current_database()); END $$";
    sqlx::query(owned).execute(database.pool()).await.unwrap();
    database
}

fn context(saga: Saga, direction: Direction) -> CommandContext {
    CommandContext {
        saga_id: saga.id.to_string(),
        command_id: tercet_contracts::command::command_id(saga.id, STEP, direction),
        step: STEP.to_owned(),
        direction: direction.into(),
        epoch: 1,
    }
}

fn charge(saga: Saga) -> pb::ChargePaymentRequest {
    pb::ChargePaymentRequest {
        context: Some(context(saga, Direction::Forward)),
        payment_id: saga.payment.to_string(),
        order_id: saga.order.to_string(),
        amount_minor: AMOUNT,
        currency: "EUR".to_owned(),
        payment_method: "pm_card_visa".to_owned(),
    }
}

fn refund(saga: Saga) -> pb::RefundPaymentRequest {
    pb::RefundPaymentRequest {
        context: Some(context(saga, Direction::Backward)),
        payment_id: saga.payment.to_string(),
        order_id: saga.order.to_string(),
        amount_minor: AMOUNT,
        currency: "EUR".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_by_grpc_leads_to_an_event_on_the_topic() {
    let (mut service, saga) = (Service::start().await, Saga::new());
    let ack = service.charge(saga).await;
    assert_eq!((ack.state(), ack.decided), (State::Accepted, None));

    let [record] = service.on_topic(saga, 1).await.try_into().unwrap();
    let header = |name: &str| record.headers.get(name).map_or("", String::as_str);
    let (saga_id, payment_id) = (saga.id.to_string(), saga.payment.to_string());
    for (name, value) in [
        ("ce_specversion", "1.0"),
        ("ce_source", "//tercet/payment"),
        ("ce_type", "tercet.events.v1.PaymentCharged"),
        ("ce_subject", &payment_id),
        ("ce_aggregatetype", "payment"),
        ("ce_aggregateversion", "1"),
        ("content-type", "application/json"),
        ("ce_sagaid", &saga_id),
        ("ce_correlationid", &saga_id),
        ("ce_commandid", &format!("{saga_id}:{STEP}:forward")),
        ("ce_outcome", "final"),
    ] {
        assert_eq!(header(name), value, "{name}");
    }
    let event: tercet_contracts::events::v1::PaymentCharged =
        serde_json::from_slice(&record.payload).unwrap();
    assert_eq!(event.amount_minor, AMOUNT);
    assert!(event.occurred_at.is_some());

    // The duplicate is answered with the very event that is on the topic.
    let decided = service.charge(saga).await.decided.unwrap();
    assert_eq!(decided.event_id, header("ce_id"));
    let kept: serde_json::Value = serde_json::from_str(&decided.payload).unwrap();
    let sent: serde_json::Value = serde_json::from_slice(&record.payload).unwrap();
    assert_eq!(kept, sent);
    for (name, value) in &decided.headers {
        assert_eq!(header(name), value, "{name}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_is_shown_as_it_is_and_listed_by_state() {
    let mut service = Service::start().await;
    let sagas = [Saga::new(), Saga::new(), Saga::new()];
    for saga in sagas {
        service.charge(saga).await;
        service.reaches(saga, PaymentState::Charged).await;
    }
    service.refund(sagas[1]).await;
    let refunded = service.reaches(sagas[1], PaymentState::Refunded).await;
    assert_eq!(refunded.captured_minor, AMOUNT);
    assert_eq!(refunded.refunded_minor, AMOUNT);
    assert_eq!((refunded.version, refunded.currency.as_str()), (2, "EUR"));
    let account = service.sim.account(sagas[1].payment).await;
    assert_eq!(refunded.gateway_payment_id, account.intents[0]["id"]);

    let mut page = pb::ListPaymentsRequest {
        page_size: 1,
        page_token: String::new(),
        state: PaymentState::Charged.into(),
    };
    let mut seen = Vec::new();
    loop {
        let answer = service.client.list_payments(page.clone()).await.unwrap();
        let answer = answer.into_inner();
        seen.extend(
            answer
                .payments
                .into_iter()
                .map(|payment| payment.payment_id),
        );
        page.page_token = answer.next_page_token;
        if page.page_token.is_empty() {
            break;
        }
        page.state = PaymentState::Declined.into();
        let other = service.client.list_payments(page.clone()).await;
        assert_eq!(told(other).1, "INVALID_REQUEST", "a token of another list");
        page.state = PaymentState::Charged.into();
    }
    let newest_first = [sagas[2], sagas[0]].map(|saga| saga.payment.to_string());
    assert_eq!(seen, newest_first);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_says_when_it_is_ready_and_ends_when_told() {
    let service = Service::start().await;
    let admin_addr = service.admin_addr;
    eventually("readiness", Duration::from_secs(20), async || {
        (healthcheck(admin_addr).await == ExitCode::SUCCESS).then_some(())
    })
    .await;
    service.stop().await;
    assert_eq!(healthcheck(admin_addr).await, ExitCode::FAILURE);
}

fn told<T: std::fmt::Debug>(answer: Result<T, Status>) -> (Code, String, Decoded) {
    let error = decode(&answer.unwrap_err());
    assert_eq!(error.domain, "tercet.dev");
    assert!(error.help[0].ends_with(&format!("{}.md", error.reason)));
    (error.code, error.reason.clone(), error)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_call_says_why() {
    let (mut service, saga) = (Service::start().await, Saga::new());
    let client = &mut service.client;
    let no_deadline = client.charge_payment(Request::new(charge(saga))).await;
    let (code, reason, _) = told(no_deadline);
    assert_eq!(code, Code::InvalidArgument);
    assert_eq!(reason, "DEADLINE_REQUIRED");

    let wrong_way = pb::RefundPaymentRequest {
        context: Some(context(saga, Direction::Forward)),
        ..refund(saga)
    };
    let (_, reason, error) = told(client.refund_payment(request(wrong_way, WITHIN)).await);
    assert_eq!(reason, "INVALID_REQUEST");
    let fields: Vec<_> = error.violations.iter().map(|v| v.field.as_str()).collect();
    assert_eq!(fields, ["context.direction", "context.command_id"]);

    let nobody = pb::GetPaymentRequest {
        payment_id: saga.payment.to_string(),
    };
    let (code, reason, error) = told(client.get_payment(nobody).await);
    assert_eq!(
        (code, reason.as_str()),
        (Code::NotFound, "PAYMENT_NOT_FOUND")
    );
    assert_eq!(error.resource.unwrap().name, saga.payment.to_string());

    let mut higher = charge(saga);
    higher.context.as_mut().unwrap().epoch = 7;
    client
        .charge_payment(request(higher, WITHIN))
        .await
        .unwrap();
    let stale = client.charge_payment(request(charge(saga), WITHIN)).await;
    let (code, reason, error) = told(stale);
    assert_eq!(code, Code::FailedPrecondition);
    assert_eq!(reason, "STALE_EPOCH");
    assert_eq!(error.metadata["highest_epoch"], "7");

    let undone = Saga::new();
    client
        .refund_payment(request(refund(undone), WITHIN))
        .await
        .unwrap();
    let late = client.charge_payment(request(charge(undone), WITHIN)).await;
    let (code, reason, _) = told(late);
    assert_eq!(code, Code::FailedPrecondition);
    assert_eq!(reason, "STEP_ALREADY_UNDONE");

    let thief = Saga {
        id: Uuid::now_v7(),
        ..saga
    };
    let stolen = client.charge_payment(request(charge(thief), WITHIN)).await;
    let (code, reason, _) = told(stolen);
    assert_eq!(
        (code, reason.as_str()),
        (Code::AlreadyExists, "PAYMENT_ID_REUSED")
    );
    service.stop().await;
}
