//! An outcome that is decided and does not come: no relay, a broker that refuses it, a reader that does
//! not read.

use std::time::Duration;

use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, AlterConfig, ResourceSpecifier},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer as _},
};
use tercet_cli::stack::{Part, Timings};
use tercet_testbed::eventually;

use crate::world::{self, SOON, World};

const SKU: &str = "E2E-WHY-BACK";
/// As long as the saga does not ask again, only the topic can bring the outcome.
const NEVER: Duration = Duration::from_mins(10);

#[test]
fn nobody_publishes_and_then_the_broker_refuses() {
    world::run(async {
        let mut world = World::start("why-relay", |options| options).await;
        world.shop.offer(SKU, 10).await;

        world.arm(Part::Payment, "payment.after_charge_mark").await;
        let order = world.shop.place("pm_card_visa", &[(SKU, 1)]).await;
        world
            .crashed(Part::Payment, "payment.after_charge_mark")
            .await;
        let answer = world.why_becomes(&order.order_id, "RELAY_STOPPED").await;
        answer.assert_says(&[
            "PaymentCharged is decided and not published",
            "payment-service is silent",
        ]);
        world.disarm(Part::Payment).await;
        world.shop.ended(&order.order_id).await;

        let topic = format!("{}.payment.events.v1", world.stack.topic_prefix());
        world.published().await;
        limit_records(&world, &topic, "10").await;
        let order = world.shop.place("pm_card_visa", &[(SKU, 1)]).await;
        world.shop.ended(&order.order_id).await;
        quarantined(&world).await;
        let answer = world
            .why_becomes(&order.payment_id, "QUARANTINED_EVENT")
            .await;
        answer.assert_says(&[
            "is CONFIRMED, but its event PaymentCharged",
            "Message size too large",
        ]);

        // The advice is good: done as it is written, all is well.
        limit_records(&world, &topic, "1048588").await;
        let advice = answer.advice()[0].to_owned();
        let (_, update) = advice.split_once("payment database: ").unwrap();
        let requeued = sqlx::query(sqlx::AssertSqlSafe(update.to_owned()))
            .execute(&world.looks.payment)
            .await
            .unwrap();
        assert_eq!(requeued.rows_affected(), 1, "{update}");
        world.published().await;
        assert_eq!(world.why(&order.order_id).await.cause(), "CONFIRMED");
        world.close().await;
    });
}

/// A member of the order service's group that takes its share of the partitions and reads nothing.
#[test]
fn a_reader_of_nobody_holds_the_partition() {
    world::run(async {
        let world = World::start("why-consumer", |options| {
            options.with_timings(Timings {
                no_ack_first: NEVER,
                reserve_budget: NEVER,
                charge_budget: NEVER,
                saga_budget: NEVER,
                ..Timings::default()
            })
        })
        .await;
        world.shop.offer(SKU, 1_000).await;
        let stranger = stranger(&world).await;

        // Whose outcome lies in the stranger's partitions waits; half of them do.
        let mut orders = Vec::new();
        for _ in 0..12 {
            orders.push(world.shop.place("pm_card_visa", &[(SKU, 1)]).await);
        }
        let order = eventually("an outcome that nobody reads", SOON, async || {
            for order in &orders {
                if world.why(&order.order_id).await.cause() == "CONSUMER_BEHIND" {
                    return Some(order);
                }
            }
            None
        })
        .await;
        let answer = world.why_becomes(&order.order_id, "CONSUMER_BEHIND").await;
        answer.assert_says(&["records behind", "the-stranger"]);

        drop(stranger);
        for order in &orders {
            world.shop.ended(&order.order_id).await;
        }
        world.close().await;
    });
}

async fn stranger(world: &World) -> BaseConsumer {
    let prefix = world.stack.topic_prefix().to_owned();
    let (brokers, group) = (
        world.stack.brokers().to_owned(),
        format!("{prefix}.order-service"),
    );
    let joined = tokio::task::spawn_blocking(move || {
        let consumer: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", brokers)
            .set("group.id", group)
            .set("client.id", "the-stranger")
            .set("session.timeout.ms", "8000")
            .set("enable.auto.commit", "false")
            .set("partition.assignment.strategy", "cooperative-sticky")
            .create()
            .unwrap();
        let topics =
            ["payment", "inventory"].map(|service| format!("{prefix}.{service}.events.v1"));
        consumer
            .subscribe(&topics.each_ref().map(String::as_str))
            .unwrap();
        for _ in 0..200 {
            drop(consumer.poll(Duration::from_millis(100)));
            if consumer.assignment().unwrap().count() > 0 {
                return consumer;
            }
        }
        panic!("the stranger was given no partition");
    });
    joined.await.unwrap()
}

/// Sets how large a record of the topic may be, on the real broker.
async fn limit_records(world: &World, topic: &str, bytes: &str) {
    let admin: AdminClient<DefaultClientContext> = ClientConfig::new()
        .set("bootstrap.servers", world.stack.brokers())
        .create()
        .unwrap();
    let change = AlterConfig::new(ResourceSpecifier::Topic(topic)).set("max.message.bytes", bytes);
    let altered = admin.alter_configs([&change], &AdminOptions::new()).await;
    for result in altered.unwrap() {
        result.unwrap();
    }
}

/// Waits until the broker's refusals have quarantined the payment's event. Those that a person would
/// wait minutes for are counted at once.
async fn quarantined(world: &World) {
    eventually("the event is quarantined", SOON, async || {
        sqlx::query(
            "UPDATE outbox_pending SET attempts = 9, next_attempt_at = now()
              WHERE attempts BETWEEN 1 AND 8",
        )
        .execute(&world.looks.payment)
        .await
        .ok()?;
        let quarantined: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM outbox_pending WHERE quarantined_at IS NOT NULL",
        )
        .fetch_one(&world.looks.payment)
        .await
        .ok()?;
        (quarantined == 1).then_some(())
    })
    .await;
}
