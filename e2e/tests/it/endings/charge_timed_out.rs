use super::{CHARGED, CONFIRMED, RESERVED};
use crate::{
    evidence::Story,
    world::{self, PRICE_MINOR, shared::Shared},
};

const SKU: &str = "E2E-TIMED-OUT";

/// The processor took the money and did not say so.
#[test]
fn charge_timed_out() {
    world::run(async {
        let world = Shared::join().await;
        world.shop.offer(SKU, 4).await;
        let card = "pm_sim_confirm_acts_then_times_out";
        let order = world.shop.place(card, &[(SKU, 4)]).await;
        world.shop.ended(&order.order_id).await;

        let story = Story::of(&world, &order).await;
        assert_eq!(story.order.state, "CONFIRMED");
        assert_eq!(story.saga.status, "COMPLETED");
        assert_eq!(story.log, [&RESERVED[..], &CHARGED, &CONFIRMED].concat());

        // Asked again, under the same key: one charge.
        let total = 4 * PRICE_MINOR;
        assert_eq!(story.money(), ("CHARGED", total, 0));
        let charge_key = format!("charge:{}", story.order.payment_id);
        assert_eq!(story.keys(), (vec![charge_key.as_str()], vec![]));
        let unanswered: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM gateway_attempts WHERE payment_id = $1 AND operation = 'CONFIRM'",
        )
        .bind(story.order.payment_id)
        .fetch_one(&world.looks.payment)
        .await
        .unwrap();
        assert!(unanswered >= 2, "the first confirm was answered after all");

        assert_eq!(story.hold(), "COMMITTED");
        assert_eq!(story.stock_of(SKU), (0, 0));
        assert_eq!(
            story.journal,
            [
                format!("RESERVED {SKU} on_hand+0 reserved+4"),
                format!("COMMITTED {SKU} on_hand-4 reserved-4"),
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
