//! Money went back to the customer, and the payment service died before it had written that down, or
//! told it. Whoever starts again must find the refund instead of making another.

use serde_json::Value;
use sqlx::Row as _;
use tercet_cli::{audit::evidence::Books, stack::Part};
use tercet_contracts::order::v1::Order;
use uuid::Uuid;

use crate::{
    evidence::Story,
    world::{self, PRICE_MINOR, World},
};

const SKU: &str = "E2E-REFUND";

/// The processor gave the money back; our row does not know.
#[test]
fn between_the_gateways_refund_and_the_mark() {
    const POINT: &str = "payment.after_gateway_refund";
    world::run(async {
        let mut world = World::start("refund-hole", |options| options).await;
        let order = crash_on_refund(&mut world, POINT).await;
        assert_eq!(
            refund_keys(&world, &order).await,
            [order.payment_id.as_str()]
        );
        assert_eq!(payment_status(&world, &order).await, "REFUNDING");

        world.disarm(Part::Payment).await;
        refunded_once(&world, &order).await;
        world.close().await;
    });
}

/// Our rows know, the guard keeps the outcome, and nobody was told.
#[test]
fn between_the_mark_and_the_publication() {
    const POINT: &str = "payment.after_refund_mark";
    world::run(async {
        let mut world = World::start("refund-told", |options| options).await;
        let order = crash_on_refund(&mut world, POINT).await;
        assert_eq!(payment_status(&world, &order).await, "REFUNDED");
        assert_eq!(
            kept_outcome(&world, &order).await,
            "tercet.events.v1.PaymentRefunded"
        );
        assert_eq!(
            unpublished(&world, &order).await,
            ["tercet.events.v1.PaymentRefunded"]
        );

        world.disarm(Part::Payment).await;
        refunded_once(&world, &order).await;
        world.close().await;
    });
}

/// An order that must be refunded; the payment service dies on the way.
async fn crash_on_refund(world: &mut World, point: &str) -> Order {
    world.shop.offer(SKU, 5).await;
    world.arm(Part::Payment, point).await;
    let card = "pm_sim_confirm_acts_then_times_out";
    let order = world.shop.place(card, &[(SKU, 1)]).await;
    world.charging(&order).await;
    world.shop.cancel(&order.order_id).await.unwrap();
    world.crashed(Part::Payment, point).await;
    order
}

async fn refunded_once(world: &World, order: &Order) {
    world.shop.ended(&order.order_id).await;
    let story = Story::of(world, order).await;
    assert_eq!(story.order.state, "CANCELLED");
    assert_eq!(story.saga.status, "COMPENSATED");
    assert_eq!(story.money(), ("REFUNDED", PRICE_MINOR, PRICE_MINOR));
    // Exactly one refund, under exactly this key.
    assert_eq!(story.keys().1, [order.payment_id.as_str()]);
    assert_eq!(
        story.payment_events,
        [
            "PaymentCharged ← charge-payment:forward",
            "PaymentRefunded ← charge-payment:backward",
        ]
    );
    assert_eq!(story.hold(), "RELEASED");
    assert_eq!(story.stock_of(SKU), (5, 0));
}

async fn refund_keys(world: &World, order: &Order) -> Vec<String> {
    let books = Books::fetch(&world.stack.url(Part::Gateway)).await.unwrap();
    let account = books.of(id(&order.payment_id));
    let refunds = account.succeeded_refunds();
    refunds
        .filter_map(|refund| refund.idempotency_key.clone())
        .collect()
}

async fn payment_status(world: &World, order: &Order) -> String {
    sqlx::query_scalar("SELECT status FROM payments WHERE payment_id = $1")
        .bind(id(&order.payment_id))
        .fetch_one(&world.looks.payment)
        .await
        .unwrap()
}

/// What the guard of the undo keeps: the type of its outcome.
async fn kept_outcome(world: &World, order: &Order) -> String {
    let outcome: Value = sqlx::query_scalar(
        "SELECT outcome FROM command_guards
          WHERE saga_id = $1 AND step = 'charge-payment' AND direction = 'BACKWARD'",
    )
    .bind(id(&order.saga_id))
    .fetch_one(&world.looks.payment)
    .await
    .unwrap();
    outcome["event_type"].as_str().unwrap().to_owned()
}

async fn unpublished(world: &World, order: &Order) -> Vec<String> {
    let rows = sqlx::query(
        "SELECT e.event_type FROM outbox_pending p JOIN outbox_events e USING (id)
          WHERE e.aggregate_id = $1 ORDER BY id",
    )
    .bind(&order.payment_id)
    .fetch_all(&world.looks.payment)
    .await
    .unwrap();
    rows.iter().map(|row| row.get("event_type")).collect()
}

fn id(text: &str) -> Uuid {
    text.parse().unwrap()
}
