//! How orders end, driven over real gRPC: outcomes come with acks, no broker is needed.

use tercet_contracts::{events::v1 as events, order::v1::order::State};
use tonic::Status;

use crate::{
    fakes::Answer,
    world::{World, fresh_key},
};

#[tokio::test]
async fn decided_acks_alone_confirm_an_order() {
    let world = World::new().await;
    let reserved = Answer::decided(&events::StockReserved::default());
    let charged = Answer::decided(&events::PaymentCharged::default());
    let committed = Answer::decided(&events::ReservationCommitted::default());
    world.fakes.answer("reserve-stock:forward", reserved);
    world.fakes.answer("charge-payment:forward", charged);
    world.fakes.answer("commit-stock:forward", committed);

    let order = world.placed().await;
    world
        .service
        .reaches(&order.order_id, State::Confirmed)
        .await;
    assert_eq!(
        world.events(&order).await,
        ["OrderPlaced", "OrderConfirmed"]
    );
    let came = world.fakes.came();
    assert!(came.iter().all(|came| came.has_deadline), "{came:?}");
    assert!(came.iter().all(|came| came.context.epoch == 1), "{came:?}");
}

#[tokio::test]
async fn a_lost_reply_is_asked_for() {
    let world = World::new().await;
    let order = world.placed().await;
    // Accepted, and the reply was lost: the next ask is DECIDED.
    let missing = events::MissingLine {
        sku: "MUG-STONE".to_owned(),
        requested: 1,
        available: 0,
    };
    let refused = events::ReservationRefused {
        reason: "OUT_OF_STOCK".to_owned(),
        missing_lines: vec![missing],
        ..Default::default()
    };
    let refused = Answer::decided(&refused);
    world.fakes.answer("reserve-stock:forward", refused);
    let ended = world
        .service
        .reaches(&order.order_id, State::Cancelled)
        .await;
    let reason = ended.cancel_reason.unwrap();
    assert_eq!(reason.reason, "OUT_OF_STOCK");
    assert_eq!(reason.missing_lines[0].sku, "MUG-STONE");
    assert_eq!(
        world.events(&order).await,
        ["OrderPlaced", "OrderCancelled"]
    );
}

#[tokio::test]
async fn a_rejected_command_is_undone_not_guessed() {
    let world = World::new().await;
    let rejected = Answer::Refused(Status::invalid_argument("no"));
    world.fakes.answer("reserve-stock:forward", rejected);
    let order = world.service.place(&fresh_key()).await.unwrap();
    let order = order.into_inner().order.unwrap();
    // Nobody can say that it had no effect.
    world
        .fakes
        .gets(&order.saga_id, "reserve-stock:backward")
        .await;
}
