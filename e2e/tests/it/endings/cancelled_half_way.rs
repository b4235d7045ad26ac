use super::{CANCELLED_WHILE_CHARGING, CHARGE_UNDONE, RESERVED, STOCK_BACK};
use crate::{
    evidence::Story,
    world::{self, shared::Shared},
};

const SKU: &str = "E2E-CANCEL-HELD";

/// The stock is held, the processor has not decided yet, and the customer cancels: the charge can
/// never happen any more.
#[test]
fn cancelled_half_way() {
    world::run(async {
        let world = Shared::join().await;
        world.shop.offer(SKU, 2).await;
        let order = world.shop.place("pm_sim_confirm_held", &[(SKU, 1)]).await;
        world.charging(&order).await;
        world.shop.cancel(&order.order_id).await.unwrap();
        world.shop.ended(&order.order_id).await;

        let story = Story::of(&world, &order).await;
        assert_eq!(story.order.state, "CANCELLED");
        assert_eq!(story.reason(), "CANCELLED_BY_CUSTOMER");
        assert_eq!(story.saga.status, "COMPENSATED");
        let path = [
            &RESERVED[..],
            &CANCELLED_WHILE_CHARGING,
            &CHARGE_UNDONE,
            &STOCK_BACK,
        ];
        assert_eq!(story.log, path.concat());

        assert_eq!(story.money(), ("VOIDED", 0, 0));
        assert_eq!(story.keys(), (vec![], vec![]));
        let intents: Vec<&str> = story.account.intents.values().map(String::as_str).collect();
        assert_eq!(intents, ["canceled"], "the fence against a late confirm");

        assert_eq!(story.hold(), "RELEASED");
        assert_eq!(story.stock_of(SKU), (2, 0));
        assert_eq!(
            story.journal,
            [
                format!("RESERVED {SKU} on_hand+0 reserved+1"),
                format!("RELEASED {SKU} on_hand+0 reserved-1"),
            ]
        );

        assert_eq!(story.order_events, ["OrderPlaced", "OrderCancelled"]);
        assert_eq!(
            story.payment_events,
            ["PaymentVoided ← charge-payment:backward"]
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
