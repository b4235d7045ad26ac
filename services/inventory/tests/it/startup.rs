//! The whole service in this process: a command by gRPC leads to an event on Kafka.

use std::{process::ExitCode, time::Duration};

use clap::Parser as _;
use tercet_contracts::{
    inventory::v1::{self as pb, inventory_service_client::InventoryServiceClient},
    saga::v1::{CommandAck, CommandContext, Direction, command_ack::State},
};
use tercet_grpc_status::{Code, decode};
use tercet_inventory::{settings::Settings, startup::build};
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
use tonic::{Request, transport::Channel};
use uuid::Uuid;

const WITHIN: Duration = Duration::from_secs(5);

struct Service {
    client: InventoryServiceClient<Channel>,
    admin_addr: std::net::SocketAddr,
    topic: String,
    shutdown: Shutdown,
    running: JoinHandle<Result<(), Ended>>,
    _database: TestDatabase,
}

impl Service {
    async fn start() -> Self {
        let database = empty_database().await;
        let prefix = kafka::unique("stock");
        let topic = format!("{prefix}.inventory.events.v1");
        kafka::create_topic(&topic, 3).await;
        let settings = Settings::parse_from([
            "inventory-service",
            "--grpc-addr=127.0.0.1:0",
            "--admin-addr=127.0.0.1:0",
            "--seed-demo=true",
            "--sweep-interval-ms=50",
            &format!("--database-url={}", database.url_as("inventory_service")),
            &format!("--migrate-url={}", database.url_as("inventory_owner")),
            &format!("--kafka-brokers={}", kafka::brokers()),
            &format!("--topic-prefix={prefix}"),
            &format!("--instance-id={prefix}"),
        ]);
        let shutdown = Shutdown::new(Duration::from_secs(20));
        let application = build(settings, shutdown.clone()).await.unwrap().unwrap();
        let url = format!("http://{}", application.grpc_addr);
        Self {
            client: InventoryServiceClient::new(channel(&url).unwrap()),
            admin_addr: application.admin_addr,
            topic,
            shutdown,
            running: tokio::spawn(application.run()),
            _database: database,
        }
    }

    async fn reserve(&mut self, saga_id: Uuid, hold_seconds: i64) -> CommandAck {
        let message = reserve(saga_id, hold_seconds);
        let answer = self.client.reserve_stock(request(message, WITHIN)).await;
        answer.unwrap().into_inner().ack.unwrap()
    }

    /// The saga's events on the topic, as soon as there are so many.
    async fn on_topic(&self, saga_id: Uuid, count: usize) -> Vec<kafka::Record> {
        let what = format!("{count} events on {}", self.topic);
        eventually(&what, Duration::from_secs(20), async || {
            let mut records = kafka::read_all(&self.topic).await;
            records.retain(|record| record.key.as_deref() == Some(&saga_id.to_string()));
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
    let database = TestDatabase::from_sql("inventory-empty", &[]).await;
    let owned = "DO $$ BEGIN EXECUTE format(
        'ALTER DATABASE %I OWNER TO inventory_owner', current_database()); END $$";
    sqlx::query(owned).execute(database.pool()).await.unwrap();
    database
}

fn context(saga_id: Uuid, step: &str, direction: Direction) -> CommandContext {
    CommandContext {
        saga_id: saga_id.to_string(),
        command_id: tercet_contracts::command::command_id(saga_id, step, direction),
        step: step.to_owned(),
        direction: direction.into(),
        epoch: 1,
    }
}

/// The reservation has the saga's own id here, and so has the order.
fn reserve(saga_id: Uuid, hold_seconds: i64) -> pb::ReserveStockRequest {
    let mut message = pb::ReserveStockRequest {
        context: Some(context(saga_id, "reserve-stock", Direction::Forward)),
        reservation_id: saga_id.to_string(),
        order_id: saga_id.to_string(),
        lines: vec![pb::StockLine {
            sku: "TEA-GREEN-100G".to_owned(),
            quantity: 2,
        }],
        ..Default::default()
    };
    message.hold_ttl.get_or_insert_default().seconds = hold_seconds;
    message
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_by_grpc_leads_to_an_event_on_the_topic() {
    let (mut service, saga_id) = (Service::start().await, Uuid::now_v7());
    let ack = service.reserve(saga_id, 60).await;
    assert_eq!((ack.state(), ack.decided), (State::Accepted, None));

    let [record] = service.on_topic(saga_id, 1).await.try_into().unwrap();
    let header = |name: &str| record.headers.get(name).map_or("", String::as_str);
    let id = saga_id.to_string();
    for (name, value) in [
        ("ce_specversion", "1.0"),
        ("ce_source", "//tercet/inventory"),
        ("ce_type", "tercet.events.v1.StockReserved"),
        ("ce_subject", &id),
        ("ce_aggregatetype", "reservation"),
        ("ce_aggregateversion", "1"),
        ("content-type", "application/json"),
        ("ce_sagaid", &id),
        ("ce_correlationid", &id),
        ("ce_commandid", &format!("{id}:reserve-stock:forward")),
        ("ce_outcome", "final"),
    ] {
        assert_eq!(header(name), value, "{name}");
    }
    let event: tercet_contracts::events::v1::StockReserved =
        serde_json::from_slice(&record.payload).unwrap();
    assert_eq!((event.order_id, event.lines.len()), (id, 1));
    assert!(event.occurred_at.is_some() && event.expire_time.is_some());

    // The duplicate is answered with the very event that is on the topic.
    let decided = service.reserve(saga_id, 60).await.decided.unwrap();
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
async fn the_sweeper_runs_and_its_events_follow_in_version_order() {
    let (mut service, saga_id) = (Service::start().await, Uuid::now_v7());
    service.reserve(saga_id, 1).await;
    let records = service.on_topic(saga_id, 2).await;
    let told: Vec<_> = records
        .iter()
        .map(|record| {
            let header = |name: &str| record.headers[name].as_str();
            (header("ce_aggregateversion"), header("ce_type"))
        })
        .collect();
    let expected = [
        ("1", "tercet.events.v1.StockReserved"),
        ("2", "tercet.events.v1.ReservationExpired"),
    ];
    assert_eq!(told, expected);
    let message = pb::GetReservationRequest {
        reservation_id: saga_id.to_string(),
    };
    let found = service.client.get_reservation(message).await.unwrap();
    let reservation = found.into_inner().reservation.unwrap();
    assert_eq!(reservation.state(), pb::reservation::State::Expired);
    assert_eq!((reservation.version, reservation.lines.len()), (2, 1));
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_bad_field_is_told_at_once() {
    let mut service = Service::start().await;
    let message = pb::ReserveStockRequest {
        context: None,
        reservation_id: "x".to_owned(),
        order_id: String::new(),
        lines: vec![pb::StockLine {
            sku: "TEA GREEN".to_owned(),
            quantity: 0,
        }],
        hold_ttl: None,
    };
    let refused = service.client.reserve_stock(request(message, WITHIN)).await;
    let error = decode(&refused.unwrap_err());
    assert_eq!(
        (error.code, error.reason.as_str()),
        (Code::InvalidArgument, "INVALID_REQUEST")
    );
    assert_eq!(error.domain, "tercet.dev");
    let fields: Vec<&str> = error.violations.iter().map(|v| v.field.as_str()).collect();
    let expected = [
        "context",
        "reservation_id",
        "order_id",
        "lines[0].sku",
        "lines[0].quantity",
        "hold_ttl",
    ];
    assert_eq!(fields, expected);

    let message = pb::AdjustStockRequest {
        reason: "a\u{0}b".to_owned(),
        ..Default::default()
    };
    let refused = service.client.adjust_stock(message).await.unwrap_err();
    let fields: Vec<String> = decode(&refused)
        .violations
        .into_iter()
        .map(|v| v.field)
        .collect();
    assert_eq!(fields, ["sku", "on_hand_delta", "adjustment_id", "reason"]);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_command_says_why() {
    let (mut service, saga_id) = (Service::start().await, Uuid::now_v7());
    let no_deadline = service
        .client
        .reserve_stock(Request::new(reserve(saga_id, 60)))
        .await;
    let error = decode(&no_deadline.unwrap_err());
    assert_eq!(
        (error.code, error.reason.as_str()),
        (Code::InvalidArgument, "DEADLINE_REQUIRED")
    );

    let mut higher = reserve(saga_id, 60);
    higher.context.as_mut().unwrap().epoch = 7;
    service
        .client
        .reserve_stock(request(higher, WITHIN))
        .await
        .unwrap();
    let stale = service
        .client
        .reserve_stock(request(reserve(saga_id, 60), WITHIN))
        .await;
    let error = decode(&stale.unwrap_err());
    assert_eq!(
        (error.code, error.reason.as_str()),
        (Code::FailedPrecondition, "STALE_EPOCH")
    );
    assert_eq!(error.metadata["highest_epoch"], "7");

    let undone = Uuid::now_v7();
    let release = pb::ReleaseReservationRequest {
        context: Some(context(undone, "reserve-stock", Direction::Backward)),
        reservation_id: undone.to_string(),
        order_id: undone.to_string(),
    };
    service
        .client
        .release_reservation(request(release, WITHIN))
        .await
        .unwrap();
    let late = service
        .client
        .reserve_stock(request(reserve(undone, 60), WITHIN))
        .await;
    let error = decode(&late.unwrap_err());
    let told = (error.code, error.reason.as_str());
    assert_eq!(told, (Code::FailedPrecondition, "STEP_ALREADY_UNDONE"));

    let mut foreign = reserve(Uuid::now_v7(), 60);
    foreign.reservation_id = saga_id.to_string();
    let taken = service.client.reserve_stock(request(foreign, WITHIN)).await;
    let error = decode(&taken.unwrap_err());
    assert_eq!(
        (error.code, error.reason.as_str()),
        (Code::AlreadyExists, "RESERVATION_EXISTS")
    );
    service.stop().await;
}
