use futures::future;

use super::{CHARGED, CONFIRMED, RESERVED};
use crate::{
    evidence::Story,
    world::{self, Basket, PRICE_MINOR, shared::Shared},
};

const SKU: &str = "E2E-DUPLICATE";
const SENT: usize = 20;

/// A client that is not patient.
#[test]
fn duplicate_request() {
    world::run(async {
        let world = Shared::join().await;
        world.shop.offer(SKU, 40).await;
        let basket = Basket {
            customer_id: "impatient".to_owned(),
            ..Basket::new("pm_card_visa", &[(SKU, 1)])
        };
        let calls = (0..SENT).map(|_| world.shop.place_under("one-key", &basket));
        let answers: Vec<_> = future::join_all(calls)
            .await
            .into_iter()
            .map(|answer| answer.unwrap())
            .collect();

        let order = answers[0].0.clone();
        let same = answers.iter().filter(|(other, _)| *other == order);
        assert_eq!(same.count(), SENT, "all get the same answer");
        let fresh = answers.iter().filter(|(_, replayed)| !replayed);
        assert!(
            fresh.count() <= 1,
            "at most one is told that its call did it"
        );
        world.shop.ended(&order.order_id).await;
        // Also long after.
        let (late, replayed) = world.shop.place_under("one-key", &basket).await.unwrap();
        assert_eq!((late.order_id, replayed), (order.order_id.clone(), true));

        let placed: i64 = sqlx::query_scalar("SELECT count(*) FROM orders WHERE customer_id = $1")
            .bind(&basket.customer_id)
            .fetch_one(&world.looks.order)
            .await
            .unwrap();
        assert_eq!(placed, 1);

        let story = Story::of(&world, &order).await;
        assert_eq!(story.order.state, "CONFIRMED");
        assert_eq!(story.saga.status, "COMPLETED");
        assert_eq!(story.log, [&RESERVED[..], &CHARGED, &CONFIRMED].concat());
        assert_eq!(story.money(), ("CHARGED", PRICE_MINOR, 0));
        let charge_key = format!("charge:{}", story.order.payment_id);
        assert_eq!(story.keys(), (vec![charge_key.as_str()], vec![]));
        assert_eq!(story.hold(), "COMMITTED");
        assert_eq!(story.stock_of(SKU), (39, 0));
        assert_eq!(
            story.journal,
            [
                format!("RESERVED {SKU} on_hand+0 reserved+1"),
                format!("COMMITTED {SKU} on_hand-1 reserved-1"),
            ]
        );
        assert_eq!(story.order_events, ["OrderPlaced", "OrderConfirmed"]);
        assert_eq!(
            story.payment_events,
            ["PaymentCharged ← charge-payment:forward"]
        );
        assert_eq!(
            story.inventory_events,
            [
                "StockReserved ← reserve-stock:forward",
                "ReservationCommitted ← commit-stock:forward",
            ]
        );
        world.leave().await;
    });
}
