use std::time::Duration;

use tercet_contracts::{
    events::v1 as events,
    order::v1::{self as pb, order::State},
};
use tercet_order::{
    app::{Error, WatchOptions},
    domain::OrderId,
};
use tercet_testbed::eventually;
use tonic::{Code, Streaming};
use uuid::Uuid;

use crate::world::{WITHIN, World, error};

async fn watch(world: &World, order: &pb::Order) -> Streaming<pb::WatchOrderResponse> {
    let request = pb::WatchOrderRequest {
        order_id: order.order_id.clone(),
    };
    let answer = world.service.orders.clone().watch_order(request).await;
    answer.unwrap().into_inner()
}

async fn next(stream: &mut Streaming<pb::WatchOrderResponse>) -> Option<pb::Order> {
    let next = tokio::time::timeout(WITHIN, stream.message());
    Some(next.await.unwrap().unwrap()?.order.unwrap())
}

async fn all_are_closed(world: &World) {
    eventually("all streams are closed", WITHIN, async || {
        (world.service.app.watchers.open() == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_order_as_it_is_then_each_change_then_the_end() {
    let world = World::new().await;
    let order = world.placed().await;
    let mut stream = watch(&world, &order).await;
    let first = next(&mut stream).await.unwrap();
    assert_eq!(first.stage, "stock is being reserved");

    let reserved = events::StockReserved::default();
    world
        .answers(&order, "reserve-stock:forward", &reserved)
        .await;
    let mut second = next(&mut stream).await.unwrap();
    while second.stage == first.stage {
        // An ack of the first command is a change of its own.
        second = next(&mut stream).await.unwrap();
    }
    assert_eq!(second.stage, "payment is being confirmed");

    let charged = events::PaymentCharged::default();
    let committed = events::ReservationCommitted::default();
    world
        .answers(&order, "charge-payment:forward", &charged)
        .await;
    world
        .answers(&order, "commit-stock:forward", &committed)
        .await;
    let mut last = second;
    while let Some(order) = next(&mut stream).await {
        last = order;
    }
    assert_eq!(last.state(), State::Confirmed);
    all_are_closed(&world).await;
}

#[tokio::test]
async fn an_ended_order_is_told_once() {
    let world = World::new().await;
    let order = world.placed_at("end").await;
    let mut stream = watch(&world, &order).await;
    let only = next(&mut stream).await.unwrap();
    assert_eq!(only.state(), State::Confirmed);
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test]
async fn a_slow_reader_gets_the_latest_state() {
    let world = World::new().await;
    let order = world.placed().await;
    let id = OrderId::parse(&order.order_id).unwrap();
    let mut slow = world.service.app.watch_order(id).await.unwrap();
    let mut quick = world.service.app.watch_order(id).await.unwrap();
    slow.next().await.unwrap().unwrap();

    let reserved = events::StockReserved::default();
    world
        .answers(&order, "reserve-stock:forward", &reserved)
        .await;
    world
        .service
        .cancel(&order.order_id, "a-key")
        .await
        .unwrap();
    // The quick one has seen the last change, so it lies ready for the slow one, too.
    loop {
        let state = quick.next().await.unwrap().unwrap();
        if state.stage == "payment is being refunded" {
            break;
        }
    }
    let state = slow.next().await.unwrap().unwrap();
    assert_eq!(state.stage, "payment is being refunded");
}

#[tokio::test]
async fn streams_are_bounded_and_freed() {
    let world = World::with(WatchOptions {
        streams_max: 2,
        ..WatchOptions::default()
    })
    .await;
    let order = world.placed().await;
    let first = watch(&world, &order).await;
    let second = watch(&world, &order).await;
    let request = || pb::WatchOrderRequest {
        order_id: order.order_id.clone(),
    };
    let mut orders = world.service.orders.clone();
    let refused = error(orders.watch_order(request()).await);
    assert_eq!(refused.code, Code::ResourceExhausted);
    assert_eq!(refused.reason, "TOO_MANY_WATCHERS");
    assert!(refused.retry_after.is_some());

    drop((first, second));
    all_are_closed(&world).await;
    let mut third = watch(&world, &order).await;
    next(&mut third).await.unwrap();
}

#[tokio::test]
async fn a_stream_has_a_longest_life() {
    let world = World::with(WatchOptions {
        life_max: Duration::from_millis(300),
        ..WatchOptions::default()
    })
    .await;
    let order = world.placed().await;
    let mut stream = watch(&world, &order).await;
    let ended = loop {
        if let Err(status) = stream.message().await {
            break status;
        }
    };
    let ended = error::<()>(Err(ended));
    assert_eq!(ended.code, Code::Unavailable);
    assert_eq!(ended.reason, "WATCH_INTERRUPTED");
    all_are_closed(&world).await;
}

#[tokio::test]
async fn a_stopping_process_ends_its_streams() {
    let world = World::new().await;
    let order = world.placed().await;
    let mut stream = watch(&world, &order).await;
    next(&mut stream).await.unwrap();
    world.service.shutdown.begin();
    let ended = loop {
        match tokio::time::timeout(WITHIN, stream.message())
            .await
            .unwrap()
        {
            Ok(next) => assert!(next.is_some()),
            Err(status) => break status,
        }
    };
    assert_eq!(error::<()>(Err(ended)).reason, "WATCH_INTERRUPTED");
}

#[tokio::test]
async fn an_unknown_order_cannot_be_watched() {
    let world = World::new().await;
    let id = OrderId::from(Uuid::now_v7());
    let refused = world.service.app.watch_order(id).await;
    assert!(matches!(refused, Err(Error::OrderNotFound(_))));
    all_are_closed(&world).await;
}
