use tercet_contracts::order::v1 as pb;
use tonic::Code;
use uuid::Uuid;

use crate::world::{World, error, fields};

#[tokio::test]
async fn an_order_tells_where_it_stands() {
    let world = World::new().await;
    let order = world.placed_at("charge-payment").await;
    let now = world.service.get(&order.order_id).await;
    assert_eq!(now.stage, "payment is being confirmed");
    assert_eq!(now.saga_id, order.saga_id);
    assert_eq!(now.create_time, order.create_time);
}

#[tokio::test]
async fn an_unknown_order_is_not_found() {
    let world = World::new().await;
    let order_id = Uuid::now_v7().to_string();
    let request = pb::GetOrderRequest {
        order_id: order_id.clone(),
    };
    let refused = error(world.service.orders.clone().get_order(request).await);
    assert_eq!(refused.code, Code::NotFound);
    assert_eq!(refused.reason, "ORDER_NOT_FOUND");
    assert_eq!(refused.resource.unwrap().name, order_id);
    assert_eq!(
        refused.help,
        ["https://tercet.dev/docs/errors/ORDER_NOT_FOUND.md"]
    );
}

#[tokio::test]
async fn an_id_is_a_uuid() {
    let world = World::new().await;
    let request = pb::GetOrderRequest {
        order_id: "7".to_owned(),
    };
    let refused = error(world.service.orders.clone().get_order(request).await);
    assert_eq!(fields(&refused), ["order_id"]);
}
