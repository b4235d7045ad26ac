use tercet_contracts::order::v1::order::State;

use super::{CANCELLED_WHILE_CHARGING, CHARGE_UNDONE, RESERVED, STOCK_BACK};
use crate::{
    evidence::Story,
    world::{self, PRICE_MINOR, shared::Shared},
};

const SKU: &str = "E2E-CANCEL-CHARGED";

/// The processor took the money and did not say so, and while nobody knows, the customer cancels.
#[test]
fn cancel_during_charge() {
    world::run(async {
        let world = Shared::join().await;
        world.shop.offer(SKU, 6).await;
        let card = "pm_sim_confirm_acts_then_times_out";
        let order = world.shop.place(card, &[(SKU, 2)]).await;
        world.charging(&order).await;
        let cancelling = world.shop.cancel(&order.order_id).await.unwrap();
        assert_eq!(cancelling.state(), State::Pending, "money is still open");
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

        let total = 2 * PRICE_MINOR;
        assert_eq!(story.money(), ("REFUNDED", total, total));
        let payment_id = story.order.payment_id.to_string();
        let charge_key = format!("charge:{payment_id}");
        assert_eq!(
            story.keys(),
            (vec![charge_key.as_str()], vec![payment_id.as_str()])
        );

        assert_eq!(story.hold(), "RELEASED");
        assert_eq!(story.stock_of(SKU), (6, 0));
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
            [
                "PaymentCharged ← charge-payment:forward",
                "PaymentRefunded ← charge-payment:backward",
            ]
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
