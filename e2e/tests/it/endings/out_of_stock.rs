use serde_json::json;

use crate::{
    evidence::Story,
    world::{self, shared::Shared},
};

const PLENTY: &str = "E2E-PLENTY";
const SCARCE: &str = "E2E-SCARCE";

#[test]
fn out_of_stock() {
    world::run(async {
        let world = Shared::join().await;
        world.shop.offer(PLENTY, 100).await;
        world.shop.offer(SCARCE, 1).await;
        let lines = [(PLENTY, 1), (SCARCE, 2)];
        let order = world.shop.place("pm_card_visa", &lines).await;
        let ended = world.shop.ended(&order.order_id).await;

        // The customer is told which line it was.
        let missing = ended.cancel_reason.unwrap().missing_lines;
        let missing: Vec<_> = missing
            .iter()
            .map(|line| (line.sku.as_str(), line.requested, line.available))
            .collect();
        assert_eq!(missing, [(SCARCE, 2, 1)]);

        let story = Story::of(&world, &order).await;
        assert_eq!(story.order.state, "CANCELLED");
        assert_eq!(story.reason(), "OUT_OF_STOCK");
        assert_eq!(
            story.cancel_reason.as_ref().unwrap()["missing_lines"],
            json!([{ "sku": SCARCE, "requested": 2, "available": 1 }])
        );
        assert_eq!(story.saga.status, "COMPENSATED");
        assert_eq!(
            story.log,
            [
                "SAGA_STARTED",
                "STEP_STARTED reserve-stock",
                "STEP_REFUSED reserve-stock",
                "TURNED_BACK",
                "COMPENSATED",
            ]
        );

        // Payment never heard of it.
        assert_eq!(story.payment, None);
        assert_eq!(
            story.account,
            tercet_cli::audit::evidence::Account::default()
        );

        // All lines or none.
        assert_eq!(story.hold(), "REFUSED");
        assert_eq!(story.stock_of(PLENTY), (100, 0));
        assert_eq!(story.stock_of(SCARCE), (1, 0));
        assert_eq!(story.journal, [""; 0]);

        assert_eq!(story.order_events, ["OrderPlaced", "OrderCancelled"]);
        assert_eq!(story.payment_events, [""; 0]);
        assert_eq!(
            story.inventory_events,
            ["ReservationRefused ← reserve-stock:forward"]
        );
        world.leave().await;
    });
}
