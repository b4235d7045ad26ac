//! One order service in this process: real database, real gRPC, no broker. Outcomes are handed to
//! its consumer as Kafka would.

use std::{collections::BTreeMap, time::Duration};

use prost::Name;
use serde::Serialize;
use sqlx::PgPool;
use tercet_contracts::{
    FILE_DESCRIPTOR_SET,
    events::v1 as events,
    order::v1::{
        self as pb, order::State, order_service_client::OrderServiceClient,
        order_service_server::OrderServiceServer,
    },
    saga::v1::{
        saga_admin_service_client::SagaAdminServiceClient,
        saga_admin_service_server::SagaAdminServiceServer,
    },
};
use tercet_grpc_status::{Decoded, decode};
use tercet_idempotency::SingleFlight;
use tercet_inbox::{Envelope, HandleError, Handled, Handler};
use tercet_order::{
    MIGRATOR,
    app::{self, App, WatchOptions, Watchers},
    grpc::{Orders, SagaAdmin, status},
    messaging::Outcomes,
    saga::{Engine, Services},
};
use tercet_outbox::Wake;
use tercet_saga::{Definition, Timing};
use tercet_saga_postgres::EngineOptions;
use tercet_service_kit::{
    client,
    server::{Frame, bind},
    shutdown::{Shutdown, Tasks},
};
use tercet_testbed::{eventually, postgres::TestDatabase};
use tonic::{Request, Response, Status, transport::Channel};
use uuid::Uuid;

use crate::fakes::Fakes;

pub const WITHIN: Duration = Duration::from_secs(10);
pub const TOPIC: &str = "tercet.order.events.v1";

/// A service, its database and its neighbours.
pub struct World {
    /// The superuser's; the service itself connects as the restricted role.
    pub database: TestDatabase,
    pub service: Instance,
    pub fakes: Fakes,
    fakes_url: String,
}

/// One process of the service, as far as its own state goes.
pub struct Instance {
    pub app: App,
    pub orders: OrderServiceClient<Channel>,
    pub sagas: SagaAdminServiceClient<Channel>,
    pub outcomes: Outcomes,
    pub shutdown: Shutdown,
}

impl World {
    pub async fn new() -> Self {
        Self::with(WatchOptions::default()).await
    }

    pub async fn with(watch: WatchOptions) -> Self {
        let database = TestDatabase::migrated("order", &MIGRATOR).await;
        let (fakes, address) = Fakes::start().await;
        let fakes_url = format!("http://{address}");
        let pool = database.pool_as("order_service").await;
        app::seed_demo(&pool).await.unwrap();
        let service = Instance::start(pool, &fakes_url, watch).await;
        Self {
            database,
            service,
            fakes,
            fakes_url,
        }
    }

    /// A second process on the same database.
    pub async fn another_instance(&self) -> Instance {
        let pool = self.database.pool_as("order_service").await;
        Instance::start(pool, &self.fakes_url, WatchOptions::default()).await
    }

    /// A placed order whose reservation was asked for.
    pub async fn placed(&self) -> pb::Order {
        let order = self.service.place(&fresh_key()).await.unwrap().into_inner();
        let order = order.order.unwrap();
        self.fakes
            .gets(&order.saga_id, "reserve-stock:forward")
            .await;
        order
    }

    /// A placed order that stands at this step.
    pub async fn placed_at(&self, step: &str) -> pb::Order {
        let order = self.placed().await;
        if step == "reserve-stock" {
            return order;
        }
        self.answers(
            &order,
            "reserve-stock:forward",
            &events::StockReserved::default(),
        )
        .await;
        self.fakes
            .gets(&order.saga_id, "charge-payment:forward")
            .await;
        if step == "charge-payment" {
            return order;
        }
        self.answers(
            &order,
            "charge-payment:forward",
            &events::PaymentCharged::default(),
        )
        .await;
        self.fakes
            .gets(&order.saga_id, "commit-stock:forward")
            .await;
        if step == "commit-stock" {
            return order;
        }
        self.answers(
            &order,
            "commit-stock:forward",
            &events::ReservationCommitted::default(),
        )
        .await;
        order
    }

    /// The outcome of a command comes by Kafka.
    pub async fn answers<E: Name + Serialize>(&self, order: &pb::Order, command: &str, event: &E) {
        let handled = self.hand_over(outcome(order, command, event)).await;
        assert_eq!(handled.unwrap(), Handled::Done);
    }

    pub async fn hand_over(&self, envelope: Envelope) -> Result<Handled, HandleError> {
        self.service.outcomes.handle(envelope).await
    }

    pub async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query)
            .fetch_one(self.database.pool())
            .await
            .unwrap()
    }

    /// Short names of the order's events, in order.
    pub async fn events(&self, order: &pb::Order) -> Vec<String> {
        let types: Vec<String> = sqlx::query_scalar(
            "SELECT event_type FROM outbox_events WHERE aggregate_type = 'order'
                AND aggregate_id = $1 AND topic = $2 ORDER BY aggregate_version",
        )
        .bind(&order.order_id)
        .bind(TOPIC)
        .fetch_all(self.database.pool())
        .await
        .unwrap();
        types
            .iter()
            .map(|name| name.rsplit('.').next().unwrap().to_owned())
            .collect()
    }
}

impl Instance {
    pub async fn start(pool: PgPool, participants: &str, watch: WatchOptions) -> Self {
        let shutdown = Shutdown::new(Duration::from_secs(5));
        let wake = Wake::default();
        let channel = client::channel(participants).unwrap();
        let services = Services::new(
            channel.clone(),
            channel,
            Duration::from_mins(15),
            TOPIC.to_owned(),
            wake.clone(),
        );
        let timing = Timing {
            ask_first: Duration::from_millis(200),
            ..Timing::default()
        };
        let options = EngineOptions::new(Uuid::now_v7().to_string());
        let definition = Definition::build(timing).unwrap();
        let engine = Engine::new(pool.clone(), definition, services, options);
        let watchers = Watchers::new(watch, shutdown.intake());

        let mut tasks = Tasks::new(shutdown.clone());
        let (running, workers) = (engine.clone(), shutdown.workers());
        tasks.spawn("sagas", async move { running.run(workers).await });
        tasks.spawn(
            "watchers",
            watchers.clone().run(pool.clone(), shutdown.workers()),
        );
        let app = App::new(app::Inner {
            pool,
            engine: engine.clone(),
            wake,
            order_topic: TOPIC.to_owned(),
            hold_ttl_seconds: 900,
            watchers,
            placing: SingleFlight::new(),
            cancelling: SingleFlight::new(),
        });
        let (listener, address) = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let frame = Frame::new(status::DOMAIN)
            .describe(FILE_DESCRIPTOR_SET)
            .service(OrderServiceServer::new(Orders::new(app.clone())))
            .service(SagaAdminServiceServer::new(SagaAdmin::new(app.clone())));
        tasks.intake("grpc", frame.serve(listener, shutdown.clone()));
        tokio::spawn(tasks.run());

        let channel = client::channel(&format!("http://{address}")).unwrap();
        Self {
            app,
            orders: OrderServiceClient::new(channel.clone()),
            sagas: SagaAdminServiceClient::new(channel),
            outcomes: Outcomes::new(engine),
            shutdown,
        }
    }

    pub async fn place(&self, key: &str) -> Result<Response<pb::PlaceOrderResponse>, Status> {
        self.place_as(a_basket(), key).await
    }

    pub async fn place_as(
        &self,
        basket: pb::PlaceOrderRequest,
        key: &str,
    ) -> Result<Response<pb::PlaceOrderResponse>, Status> {
        self.orders.clone().place_order(keyed(basket, key)).await
    }

    pub async fn cancel(
        &self,
        order_id: &str,
        key: &str,
    ) -> Result<Response<pb::CancelOrderResponse>, Status> {
        let request = pb::CancelOrderRequest {
            order_id: order_id.to_owned(),
        };
        self.orders.clone().cancel_order(keyed(request, key)).await
    }

    pub async fn get(&self, order_id: &str) -> pb::Order {
        let request = pb::GetOrderRequest {
            order_id: order_id.to_owned(),
        };
        let answer = self.orders.clone().get_order(request).await.unwrap();
        answer.into_inner().order.unwrap()
    }

    pub async fn reaches(&self, order_id: &str, state: State) -> pb::Order {
        eventually(&format!("{order_id} in {state:?}"), WITHIN, async || {
            let order = self.get(order_id).await;
            (order.state() == state).then_some(order)
        })
        .await
    }
}

pub fn a_basket() -> pb::PlaceOrderRequest {
    pb::PlaceOrderRequest {
        customer_id: "ann".to_owned(),
        currency: "EUR".to_owned(),
        payment_method: "pm_card_visa".to_owned(),
        lines: vec![line("TEA-GREEN-100G", 2), line("MUG-STONE", 1)],
        validate_only: false,
    }
}

pub fn line(sku: &str, quantity: i64) -> pb::OrderLine {
    pb::OrderLine {
        sku: sku.to_owned(),
        quantity,
        unit_price_minor: 0,
    }
}

pub fn fresh_key() -> String {
    Uuid::now_v7().to_string()
}

pub fn keyed<T>(message: T, key: &str) -> Request<T> {
    let mut request = Request::new(message);
    let metadata = request.metadata_mut();
    metadata.insert("idempotency-key", key.parse().unwrap());
    request
}

pub fn is_replayed<T>(response: &Response<T>) -> bool {
    response
        .metadata()
        .get("idempotent-replayed")
        .is_some_and(|value| value == "true")
}

pub fn error<T: std::fmt::Debug>(answer: Result<T, Status>) -> Decoded {
    let decoded = decode(&answer.unwrap_err());
    assert_eq!(decoded.domain, "tercet.dev");
    decoded
}

pub fn fields(error: &Decoded) -> Vec<&str> {
    let violations = error.violations.iter();
    violations.map(|found| found.field.as_str()).collect()
}

/// An outcome as it lies on the topic.
pub fn outcome<E: Name + Serialize>(order: &pb::Order, command: &str, event: &E) -> Envelope {
    let headers = [
        ("ce_id", Uuid::now_v7().to_string()),
        ("ce_type", E::full_name()),
        ("ce_sagaid", order.saga_id.clone()),
        ("ce_commandid", format!("{}:{command}", order.saga_id)),
        ("ce_outcome", "final".to_owned()),
    ];
    let headers: BTreeMap<String, String> =
        headers.map(|(name, value)| (name.to_owned(), value)).into();
    Envelope {
        topic: "tercet.inventory.events.v1".to_owned(),
        partition: 0,
        offset: 0,
        key: None,
        payload: serde_json::to_vec(event).unwrap(),
        headers,
    }
}
