//! Kafka is gone. Orders go on by what the acks carry, and their events wait.

use tercet_cli::stack::Broker;
use tercet_testbed::local::LocalKafka;

use crate::world::{self, World};

const SKU: &str = "E2E-WHY-BROKER";

#[test]
fn kafka_is_killed() {
    world::run(async {
        // One of its own: it is killed, and others use the one of the tests.
        let kafka = LocalKafka::start().await.unwrap();
        let brokers = kafka.brokers().to_owned();
        let world = World::start("why-broker", |mut options| {
            options.broker = Broker::Kafka(brokers);
            options
        })
        .await;
        world.shop.offer(SKU, 10).await;
        drop(kafka);

        let order = world.shop.place("pm_card_visa", &[(SKU, 1)]).await;
        let answer = world.why_becomes(&order.order_id, "BROKER_DOWN").await;
        answer.assert_says(&["Kafka does not answer", "nothing is lost meanwhile"]);
        world.shop.ended(&order.order_id).await;
        let answer = world.why(&order.order_id).await;
        assert_eq!(answer.cause(), "BROKER_DOWN");
        answer.assert_says(&["is CONFIRMED, but its event"]);
        world.remove_without_broker().await;
    });
}
