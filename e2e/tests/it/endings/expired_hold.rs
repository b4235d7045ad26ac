use std::time::Duration;

use tercet_cli::stack::Timings;
use tercet_testbed::eventually;

use super::{CHARGE_UNDONE, CHARGED, RESERVED, STOCK_BACK};
use crate::{
    evidence::Story,
    world::{self, PRICE_MINOR, SOON, World},
};

const SKU: &str = "E2E-EXPIRED";
const HOLD_TTL: Duration = Duration::from_secs(2);

/// The processor takes its time, the hold ends meanwhile, and the goods go to somebody else. Then the
/// money comes, too late.
#[test]
fn expired_hold() {
    world::run(async {
        let world = World::start("expired-hold", |options| {
            options.with_timings(Timings {
                hold_ttl: HOLD_TTL,
                ..Timings::default()
            })
        })
        .await;
        world.shop.offer(SKU, 3).await;
        let order = world.shop.place("pm_sim_confirm_held", &[(SKU, 2)]).await;
        world.charging(&order).await;
        expired(&world, &order.reservation_id).await;
        world.shop.adjust(SKU, -3).await;
        assert!(world.shop.release(&order.payment_id).await);
        world.shop.ended(&order.order_id).await;

        let story = Story::of(&world, &order).await;
        assert_eq!(story.order.state, "CANCELLED");
        assert_eq!(story.reason(), "HOLD_EXPIRED");
        assert_eq!(story.saga.status, "COMPENSATED");
        let refused = [
            "STEP_STARTED commit-stock",
            "STEP_REFUSED commit-stock",
            "TURNED_BACK",
        ];
        let path = [
            &RESERVED[..],
            &CHARGED,
            &refused,
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

        assert_eq!(story.hold(), "EXPIRED");
        assert_eq!(story.stock_of(SKU), (0, 0));
        assert_eq!(
            story.journal,
            [
                format!("RESERVED {SKU} on_hand+0 reserved+2"),
                format!("EXPIRED {SKU} on_hand+0 reserved-2"),
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
                "ReservationExpired",
                "CommitRefused ← commit-stock:forward",
                "ReservationReleased ← reserve-stock:backward",
            ]
        );
        world.close().await;
    });
}

async fn expired(world: &World, reservation_id: &str) {
    let id: uuid::Uuid = reservation_id.parse().unwrap();
    eventually("the hold has expired", SOON, async || {
        let state: String = sqlx::query_scalar("SELECT state FROM reservations WHERE id = $1")
            .bind(id)
            .fetch_one(&world.looks.inventory)
            .await
            .ok()?;
        (state == "EXPIRED").then_some(())
    })
    .await;
}
