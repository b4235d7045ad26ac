//! The whole service, as a process runs it, on a real broker: two instances share one database.

use std::time::Duration;

use prost::Name;
use rdkafka::{
    ClientConfig,
    message::{Header, OwnedHeaders},
    producer::{FutureProducer, FutureRecord},
};
use serde::Serialize;
use tercet_contracts::{
    events::v1 as events,
    order::v1::{self as pb, order::State, order_service_client::OrderServiceClient},
};
use tercet_order::{MIGRATOR, Settings, build, messaging::Topics};
use tercet_service_kit::{client, settings::try_parse_from, shutdown::Shutdown};
use tercet_testbed::{eventually, kafka, postgres::TestDatabase};
use tokio::task::JoinHandle;
use tonic::transport::Channel;

use crate::{
    fakes::Fakes,
    world::{a_basket, fresh_key, keyed, outcome},
};

/// A consumer group has to form first.
const WITHIN: Duration = Duration::from_secs(40);

struct Process {
    orders: OrderServiceClient<Channel>,
    shutdown: Shutdown,
    running: JoinHandle<()>,
}

impl Process {
    async fn start(database: &TestDatabase, fakes: &str, prefix: &str, id: &str) -> Self {
        let (owner, service) = (
            database.url_as("order_owner"),
            database.url_as("order_service"),
        );
        let brokers = kafka::brokers();
        let arguments = [
            ("--grpc-addr", "127.0.0.1:0"),
            ("--admin-addr", "127.0.0.1:0"),
            ("--database-url", &service),
            ("--migrate-url", &owner),
            ("--payment-url", fakes),
            ("--inventory-url", fakes),
            ("--kafka-brokers", &brokers),
            ("--topic-prefix", prefix),
            ("--instance-id", &format!("{prefix}-{id}")),
            ("--database-connections", "8"),
            ("--migrate", "off"), // done: the database is a copy of a migrated one
        ];
        let arguments = arguments.map(|(name, value)| format!("{name}={value}"));
        let arguments = ["order-service".to_owned(), "--seed-demo".to_owned()]
            .into_iter()
            .chain(arguments);
        let settings = try_parse_from(arguments, Settings::problems).unwrap();
        let shutdown = Shutdown::new(Duration::from_secs(20));
        let application = build(&settings, shutdown.clone()).await.unwrap().unwrap();
        let channel = client::channel(&format!("http://{}", application.addr)).unwrap();
        let running = tokio::spawn(async move { application.run().await.unwrap() });
        Self {
            orders: OrderServiceClient::new(channel),
            shutdown,
            running,
        }
    }

    async fn place(&self) -> pb::Order {
        let request = keyed(a_basket(), &fresh_key());
        let placed = self.orders.clone().place_order(request).await.unwrap();
        placed.into_inner().order.unwrap()
    }

    async fn confirms(&self, order: &pb::Order) {
        eventually("the order is confirmed", WITHIN, async || {
            let request = pb::GetOrderRequest {
                order_id: order.order_id.clone(),
            };
            let now = self.orders.clone().get_order(request).await.unwrap();
            let now = now.into_inner().order.unwrap();
            (now.state() == State::Confirmed).then_some(())
        })
        .await;
    }

    async fn stop(self) {
        self.shutdown.begin();
        self.running.await.unwrap();
    }
}

/// What the participants' relays would publish.
struct Outcomes {
    producer: FutureProducer,
    topics: Topics,
}

impl Outcomes {
    fn new(prefix: &str) -> Self {
        let producer = ClientConfig::new()
            .set("bootstrap.servers", kafka::brokers())
            .create()
            .unwrap();
        Self {
            producer,
            topics: Topics::new(prefix),
        }
    }

    async fn publish<E: Name + Serialize>(&self, order: &pb::Order, command: &str, event: &E) {
        let message = outcome(order, command, event);
        let topic = if command.starts_with("charge") {
            &self.topics.payment
        } else {
            &self.topics.inventory
        };
        let headers = message.headers.iter();
        let headers = headers.fold(OwnedHeaders::new(), |headers, (key, value)| {
            headers.insert(Header {
                key,
                value: Some(value),
            })
        });
        let record = FutureRecord::to(topic)
            .key(&order.reservation_id)
            .payload(&message.payload)
            .headers(headers);
        self.producer.send(record, WITHIN).await.unwrap();
    }
}

#[tokio::test]
async fn two_instances_share_the_work_and_one_goes_on_alone() {
    let database = TestDatabase::migrated("order", &MIGRATOR).await;
    let prefix = kafka::unique("order-it");
    let topics = Topics::new(&prefix);
    for topic in [&topics.order, &topics.payment, &topics.inventory] {
        kafka::create_topic(topic, 3).await;
    }
    let (fakes, address) = Fakes::start().await;
    let url = format!("http://{address}");
    let one = Process::start(&database, &url, &prefix, "one").await;
    let two = Process::start(&database, &url, &prefix, "two").await;
    let outcomes = Outcomes::new(&prefix);

    let first = one.place().await;
    let second = two.place().await;
    for order in [&first, &second] {
        fakes.gets(&order.saga_id, "reserve-stock:forward").await;
        let reserved = events::StockReserved::default();
        outcomes
            .publish(order, "reserve-stock:forward", &reserved)
            .await;
    }
    for order in [&first, &second] {
        fakes.gets(&order.saga_id, "charge-payment:forward").await;
    }

    // A clean stop gives its partitions back; the other one ends both orders.
    one.stop().await;
    for order in [&first, &second] {
        let charged = events::PaymentCharged::default();
        outcomes
            .publish(order, "charge-payment:forward", &charged)
            .await;
        fakes.gets(&order.saga_id, "commit-stock:forward").await;
        let committed = events::ReservationCommitted::default();
        outcomes
            .publish(order, "commit-stock:forward", &committed)
            .await;
        two.confirms(order).await;
    }
    two.stop().await;

    let published = kafka::read_all(&topics.order).await;
    for order in [&first, &second] {
        let mine = published
            .iter()
            .filter(|record| record.key.as_deref() == Some(&order.order_id));
        let mut types: Vec<_> = mine
            .map(|record| record.headers["ce_type"].clone())
            .collect();
        types.dedup(); // at least once
        assert_eq!(
            types,
            [
                events::OrderPlaced::full_name(),
                events::OrderConfirmed::full_name()
            ]
        );
    }
    for topic in [&topics.order, &topics.payment, &topics.inventory] {
        kafka::delete_topic(topic).await;
    }
}
