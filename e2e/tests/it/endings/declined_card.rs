use super::{RESERVED, STOCK_BACK};
use crate::{
    evidence::Story,
    world::{self, shared::Shared},
};

const SKU: &str = "E2E-DECLINED";

#[test]
fn declined_card() {
    world::run(async {
        let world = Shared::join().await;
        world.shop.offer(SKU, 5).await;
        let order = world
            .shop
            .place("pm_card_chargeDeclined", &[(SKU, 2)])
            .await;
        world.shop.ended(&order.order_id).await;

        let story = Story::of(&world, &order).await;
        assert_eq!(story.order.state, "CANCELLED");
        assert_eq!(story.reason(), "CARD_DECLINED");
        assert_eq!(story.saga.status, "COMPENSATED");
        let refused = [
            "STEP_STARTED charge-payment",
            "STEP_REFUSED charge-payment",
            "TURNED_BACK",
        ];
        assert_eq!(story.log, [&RESERVED[..], &refused, &STOCK_BACK].concat());

        assert_eq!(story.money(), ("DECLINED", 0, 0));
        assert_eq!(story.keys(), (vec![], vec![]));

        assert_eq!(story.hold(), "RELEASED");
        assert_eq!(story.stock_of(SKU), (5, 0));
        assert_eq!(
            story.journal,
            [
                format!("RESERVED {SKU} on_hand+0 reserved+2"),
                format!("RELEASED {SKU} on_hand+0 reserved-2"),
            ]
        );

        assert_eq!(story.order_events, ["OrderPlaced", "OrderCancelled"]);
        assert_eq!(
            story.payment_events,
            ["PaymentDeclined ← charge-payment:forward"]
        );
        assert_eq!(
            story.inventory_events,
            [
                "StockReserved ← reserve-stock:forward",
                "ReservationReleased ← reserve-stock:backward",
            ]
        );
        world.leave().await;
    });
}
