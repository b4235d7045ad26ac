//! Orders that have ended, found by every id they have.

use tercet_contracts::order::v1::Order;
use uuid::Uuid;

use crate::world::{self, Basket, World};

const SKU: &str = "E2E-WHY-SETTLED";
const KEY: &str = "why-key-1";

#[test]
fn an_order_is_found_by_every_id_it_has() {
    world::run(async {
        let world = World::start("why-settled", |options| options).await;
        world.shop.offer(SKU, 10).await;
        let basket = Basket::new("pm_card_visa", &[(SKU, 1)]);
        let (order, _) = world.shop.place_under(KEY, &basket).await.unwrap();
        world.shop.ended(&order.order_id).await;
        world.published().await;

        for (id, kind) in ids(&world, &order).await {
            let answer = world.why(&id).await;
            assert_eq!((answer.exit, answer.cause()), (0, "CONFIRMED"), "{id}");
            assert_eq!(
                (answer.kind(), answer.order_id()),
                (kind, &*order.order_id),
                "{id}"
            );
        }

        let declined = world
            .shop
            .place("pm_card_chargeDeclined", &[(SKU, 1)])
            .await;
        world.shop.ended(&declined.order_id).await;
        world.published().await;
        let answer = world.why_becomes(&declined.order_id, "CANCELLED").await;
        answer.assert_says(&["CARD_DECLINED", "no money is kept"]);

        // Never charged: only the order's own row knows this payment.
        let sold_out = world.shop.place("pm_card_visa", &[(SKU, 99)]).await;
        world.shop.ended(&sold_out.order_id).await;
        world.published().await;
        let answer = world.why(&sold_out.payment_id).await;
        assert_eq!((answer.cause(), answer.kind()), ("CANCELLED", "payment"));
        answer.assert_says(&["OUT_OF_STOCK", "nothing was taken"]);

        for nobody in [Uuid::now_v7().to_string(), "no-such-key".to_owned()] {
            let answer = world.why(&nobody).await;
            assert_eq!((answer.exit, answer.cause()), (3, "UNKNOWN_ID"));
        }
        world.why_becomes(&order.order_id, "CONFIRMED").await;
        world.close().await;
    });
}

/// Every id of the order, in every form, and what it must be taken for.
async fn ids(world: &World, order: &Order) -> Vec<(String, &'static str)> {
    let (order_id, payment_id) = (&order.order_id, &order.payment_id);
    let saga_id: Uuid = sqlx::query_scalar("SELECT saga_id FROM orders WHERE id = $1::uuid")
        .bind(order_id)
        .fetch_one(&world.looks.order)
        .await
        .unwrap();
    let mut ids = vec![
        (order_id.clone(), "order"),
        (format!("orders/{order_id}"), "order"),
        (saga_id.to_string(), "saga"),
        (format!("sagas/{saga_id}"), "saga"),
        (payment_id.clone(), "payment"),
        (format!("charge:{payment_id}"), "payment"),
        (order.reservation_id.clone(), "reservation"),
        (format!("{saga_id}:charge-payment:forward"), "command"),
        (KEY.to_owned(), "idempotency key"),
        (format!("keys/{KEY}"), "idempotency key"),
    ];
    for (pool, event) in [
        (&world.looks.order, "%.OrderConfirmed"),
        (&world.looks.payment, "%.PaymentCharged"),
        (&world.looks.inventory, "%.StockReserved"),
    ] {
        let id: Uuid = sqlx::query_scalar(
            "SELECT event_id FROM outbox_events WHERE event_type LIKE $1 AND payload->>'orderId' = $2",
        )
        .bind(event)
        .bind(order_id)
        .fetch_one(pool)
        .await
        .unwrap();
        ids.push((id.to_string(), "event"));
        ids.push((format!("events/{id}"), "event"));
    }
    ids
}
