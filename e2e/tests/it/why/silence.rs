//! Parts that do not answer cost time, never the answer.

use tokio::net::TcpListener;

use crate::world::{self, World};

const SKU: &str = "E2E-WHY-SILENT";

#[test]
fn parts_that_hang_or_are_gone_become_facts() {
    world::run(async {
        let world = World::start("why-silence", |options| options).await;
        world.shop.offer(SKU, 10).await;
        let order = world.shop.place("pm_card_visa", &[(SKU, 1)]).await;
        world.shop.ended(&order.order_id).await;
        world.published().await;

        // Takes connections, and never says a word.
        let hole = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let hole = hole.local_addr().unwrap();
        let database = format!("postgres://nobody@{hole}/nothing");
        let others = [
            ("INVENTORY_DATABASE_URL", database.clone()),
            ("KAFKA_BROKERS", hole.to_string()),
            ("PAYMENT_ADMIN_ADDR", hole.to_string()),
        ];
        let answer = world.why_with(&order.order_id, &others).await;
        assert_eq!(answer.cause(), "CONFIRMED");
        answer.assert_says(&[
            "inventory database is silent: no answer within",
            "Kafka is silent",
            "payment-service is silent",
        ]);

        // Hanging or gone, the order database is missed; the payment's own row still tells whose it is.
        let gone = "postgres://nobody@127.0.0.1:1/nothing".to_owned();
        for database in [database, gone] {
            let answer = world
                .why_with(
                    &order.payment_id,
                    &[("ORDER_DATABASE_URL", database.clone())],
                )
                .await;
            assert_eq!(
                (answer.exit, answer.cause()),
                (0, "DATABASE_DOWN"),
                "{database}"
            );
            assert_eq!(answer.order_id(), order.order_id);
            answer.assert_says(&["CHARGED"]);
            let answer = world
                .why_with(&order.order_id, &[("ORDER_DATABASE_URL", database)])
                .await;
            assert_eq!((answer.exit, answer.cause()), (5, "DATABASE_DOWN"));
        }
        world.close().await;
    });
}
