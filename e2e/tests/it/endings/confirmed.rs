use super::{CHARGED, CONFIRMED, RESERVED};
use crate::{
    evidence::Story,
    world::{self, PRICE_MINOR, shared::Shared},
};

const SKU: &str = "E2E-CONFIRMED";

#[test]
fn confirmed() {
    world::run(async {
        let world = Shared::join().await;
        world.shop.offer(SKU, 10).await;
        // Lines of one SKU are one line.
        let order = world
            .shop
            .place("pm_card_visa", &[(SKU, 2), (SKU, 1)])
            .await;
        world.shop.ended(&order.order_id).await;

        let story = Story::of(&world, &order).await;
        assert_eq!(story.order.state, "CONFIRMED");
        assert_eq!(story.order.total_minor, 3 * PRICE_MINOR);
        assert_eq!(story.cancel_reason, None);
        assert_eq!(story.saga.status, "COMPLETED");
        assert_eq!(story.log, [&RESERVED[..], &CHARGED, &CONFIRMED].concat());

        assert_eq!(story.money(), ("CHARGED", 3 * PRICE_MINOR, 0));
        let charge_key = format!("charge:{}", story.order.payment_id);
        assert_eq!(story.keys(), (vec![charge_key.as_str()], vec![]));

        assert_eq!(story.hold(), "COMMITTED");
        assert_eq!(story.stock_of(SKU), (7, 0));
        assert_eq!(
            story.journal,
            [
                format!("RESERVED {SKU} on_hand+0 reserved+3"),
                format!("COMMITTED {SKU} on_hand-3 reserved-3"),
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
