//! Services that are gone, and what comes of it: a hold that ends, and an undo that is stuck.

use std::time::Duration;

use tercet_cli::stack::{Part, Timings};
use tercet_contracts::order::v1::Order;
use tercet_testbed::eventually;
use uuid::Uuid;

use crate::world::{self, SOON, World};

const SKU: &str = "E2E-WHY-GONE";
const HOLD_TTL: Duration = Duration::from_secs(2);

#[test]
fn a_participant_is_down_until_the_hold_is_over_and_its_refund_is_refused() {
    world::run(async {
        let mut world = World::start("why-participants", |options| {
            options.with_timings(Timings {
                hold_ttl: HOLD_TTL,
                ..Timings::default()
            })
        })
        .await;
        world.shop.offer(SKU, 2).await;

        world.stack.kill9(Part::Payment).await.unwrap();
        let refundable = world.shop.place("pm_card_visa", &[(SKU, 1)]).await;
        let disputed = world.shop.place("pm_sim_refund_refused", &[(SKU, 1)]).await;
        let answer = world
            .why_becomes(&refundable.order_id, "PARTICIPANT_DOWN")
            .await;
        answer.assert_says(&[
            "payment-service does not answer",
            "order-service asks payment-service again",
        ]);

        for order in [&refundable, &disputed] {
            expired(&world, order).await;
        }
        world
            .why(&refundable.order_id)
            .await
            .assert_says(&["HOLD_EXPIRED"]);
        world.shop.adjust(SKU, -2).await;
        world.stack.restart(Part::Payment).await.unwrap();

        world.shop.ended(&refundable.order_id).await;
        world.published_by("order").await;
        let answer = world
            .why_becomes(&refundable.order_id, "HOLD_EXPIRED")
            .await;
        answer.assert_says(&["the money went back"]);

        let answer = world.why_becomes(&disputed.order_id, "STUCK_UNDO").await;
        answer.assert_says(&["waits for a person", "taken 10.00 EUR, given back 0.00 EUR"]);

        world.shop.adjust(SKU, 1).await;
        world.stack.kill9(Part::Payment).await.unwrap();
        let orphan = world.shop.place("pm_card_visa", &[(SKU, 1)]).await;
        world
            .why_becomes(&orphan.order_id, "PARTICIPANT_DOWN")
            .await;
        world.stack.kill9(Part::Order(0)).await.unwrap();
        let answer = world
            .why_becomes(&orphan.order_id, "ORCHESTRATOR_DOWN")
            .await;
        answer.assert_says(&["PARTICIPANT_DOWN", "nobody drives it"]);

        // One order is stuck for good: there is nothing to audit.
        world.remove().await;
    });
}

async fn expired(world: &World, order: &Order) {
    let id: Uuid = order.reservation_id.parse().unwrap();
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
