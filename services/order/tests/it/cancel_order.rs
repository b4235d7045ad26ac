use tercet_contracts::{
    events::v1 as events,
    order::v1::{self as pb, order::State},
};
use tonic::Code;
use uuid::Uuid;

use crate::world::{World, error, fields, fresh_key, is_replayed};

#[tokio::test]
async fn before_the_pivot_an_order_turns_back_at_once() {
    for (step, undo, stage) in [
        (
            "reserve-stock",
            "reserve-stock:backward",
            "stock is being released",
        ),
        (
            "charge-payment",
            "charge-payment:backward",
            "payment is being refunded",
        ),
    ] {
        let world = World::new().await;
        let order = world.placed_at(step).await;
        let answer = world.service.cancel(&order.order_id, &fresh_key()).await;
        let cancelled = answer.unwrap().into_inner().order.unwrap();
        assert_eq!(cancelled.state(), State::Pending);
        assert_eq!(cancelled.stage, stage);
        world.fakes.gets(&order.saga_id, undo).await;
    }
}

#[tokio::test]
async fn a_cancelled_order_ends_when_everything_is_undone() {
    let world = World::new().await;
    let order = world.placed().await;
    let key = fresh_key();
    let first = world.service.cancel(&order.order_id, &key).await.unwrap();
    world
        .fakes
        .gets(&order.saga_id, "reserve-stock:backward")
        .await;

    // While it compensates, and when it is done: the order as it is.
    let again = world.service.cancel(&order.order_id, &fresh_key()).await;
    assert!(!is_replayed(&again.unwrap()));
    let released = events::ReservationReleased {
        changed: true,
        ..Default::default()
    };
    world
        .answers(&order, "reserve-stock:backward", &released)
        .await;
    let ended = world.service.get(&order.order_id).await;
    assert_eq!(ended.state(), State::Cancelled);
    let reason = ended.cancel_reason.clone().unwrap();
    assert_eq!(reason.reason, "CANCELLED_BY_CUSTOMER");
    let again = world.service.cancel(&order.order_id, &fresh_key()).await;
    assert_eq!(again.unwrap().into_inner().order.unwrap(), ended);
    assert_eq!(
        world.events(&order).await,
        ["OrderPlaced", "OrderCancelled"]
    );

    // The first key still gets the first answer.
    let replayed = world.service.cancel(&order.order_id, &key).await.unwrap();
    assert!(is_replayed(&replayed));
    assert_eq!(replayed.into_inner(), first.into_inner());
}

#[tokio::test]
async fn while_the_stock_is_committed_a_cancel_must_wait() {
    let world = World::new().await;
    let order = world.placed_at("commit-stock").await;
    let key = fresh_key();
    let refused = error(world.service.cancel(&order.order_id, &key).await);
    assert_eq!(refused.code, Code::Aborted);
    assert_eq!(refused.reason, "ORDER_CONFIRMING");
    assert!(refused.retry_after.is_some());
    let kept = "SELECT count(*) FROM idempotency_keys WHERE method = 'CancelOrder'";
    assert_eq!(world.count(kept).await, 0);

    // The same key, when it is known: the stock was gone.
    let gone = events::CommitRefused {
        reason: "HOLD_EXPIRED".to_owned(),
        ..Default::default()
    };
    world.answers(&order, "commit-stock:forward", &gone).await;
    let answer = world.service.cancel(&order.order_id, &key).await.unwrap();
    assert!(!is_replayed(&answer));
    let order = answer.into_inner().order.unwrap();
    assert_eq!(order.stage, "payment is being refunded");
}

#[tokio::test]
async fn a_confirmed_order_cannot_be_cancelled() {
    let world = World::new().await;
    let order = world.placed_at("end").await;
    assert_eq!(
        world.service.get(&order.order_id).await.state(),
        State::Confirmed
    );
    let refused = error(world.service.cancel(&order.order_id, &fresh_key()).await);
    assert_eq!(refused.code, Code::FailedPrecondition);
    assert_eq!(refused.reason, "ORDER_NOT_CANCELLABLE");
    assert_eq!(refused.preconditions[0].kind, "STATE");
}

#[tokio::test]
async fn ten_at_once_turn_back_once() {
    let world = World::new().await;
    let other = world.another_instance().await;
    let order = world.placed().await;
    let keys: Vec<String> = (0..10).map(|_| fresh_key()).collect();
    let calls = keys.iter().enumerate().map(|(n, key)| {
        let instance = if n % 2 == 0 { &world.service } else { &other };
        instance.cancel(&order.order_id, key)
    });
    for answer in futures::future::join_all(calls).await {
        answer.unwrap();
    }
    let turned = "SELECT count(*) FROM saga_log WHERE entry = 'TURNED_BACK'";
    assert_eq!(world.count(turned).await, 1);
}

#[tokio::test]
async fn bad_cancels_are_told() {
    let world = World::new().await;
    let request = pb::CancelOrderRequest {
        order_id: "7".to_owned(),
    };
    let refused = error(world.service.orders.clone().cancel_order(request).await);
    assert_eq!(fields(&refused), ["idempotency-key", "order_id"]);

    let unknown = Uuid::now_v7().to_string();
    let refused = error(world.service.cancel(&unknown, &fresh_key()).await);
    assert_eq!(refused.reason, "ORDER_NOT_FOUND");
    assert_eq!(
        world.count("SELECT count(*) FROM idempotency_keys").await,
        0
    );
}
