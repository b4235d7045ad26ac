use tercet_contracts::order::v1 as pb;
use tonic::Code;

use crate::world::{World, a_basket, error, fields, fresh_key};

async fn place(world: &World, customer_id: &str) -> String {
    let basket = pb::PlaceOrderRequest {
        customer_id: customer_id.to_owned(),
        ..a_basket()
    };
    let placed = world.service.place_as(basket, &fresh_key()).await.unwrap();
    placed.into_inner().order.unwrap().order_id
}

async fn all(world: &World, request: pb::ListOrdersRequest) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut request = request;
    loop {
        let mut orders = world.service.orders.clone();
        let page = orders.list_orders(request.clone()).await.unwrap();
        let page = page.into_inner();
        pages.push(
            page.orders
                .into_iter()
                .map(|order| order.order_id)
                .collect(),
        );
        if page.next_page_token.is_empty() {
            return pages;
        }
        request.page_token = page.next_page_token;
    }
}

#[tokio::test]
async fn orders_come_in_pages_newest_first() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for customer in ["ann", "bob", "ann", "ann", "bob"] {
        ids.push(place(&world, customer).await);
    }
    ids.reverse();
    let request = pb::ListOrdersRequest {
        page_size: 2,
        ..pb::ListOrdersRequest::default()
    };
    let pages = all(&world, request.clone()).await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    assert_eq!(pages.concat(), ids);

    let of_ann = pb::ListOrdersRequest {
        customer_id: "ann".to_owned(),
        ..request
    };
    let expected = [&ids[1], &ids[2], &ids[4]].map(Clone::clone);
    assert_eq!(all(&world, of_ann).await.concat(), expected);
}

#[tokio::test]
async fn a_token_belongs_to_its_request() {
    let world = World::new().await;
    for _ in 0..2 {
        place(&world, "ann").await;
    }
    let mut orders = world.service.orders.clone();
    let request = pb::ListOrdersRequest {
        page_size: 1,
        ..pb::ListOrdersRequest::default()
    };
    let token = orders.list_orders(request).await.unwrap();
    let token = token.into_inner().next_page_token;
    let of_products = pb::ListProductsRequest {
        page_size: 1,
        page_token: String::new(),
    };
    let foreign = orders.list_products(of_products).await.unwrap();
    let foreign = foreign.into_inner().next_page_token;
    for (page_token, customer_id) in [(&token, "ann"), (&foreign, ""), (&"x".to_owned(), "")] {
        let request = pb::ListOrdersRequest {
            page_size: -1,
            page_token: page_token.clone(),
            customer_id: customer_id.to_owned(),
        };
        let refused = error(orders.list_orders(request).await);
        assert_eq!(refused.code, Code::InvalidArgument);
        assert_eq!(fields(&refused), ["page_size", "page_token"]);
    }
}

#[tokio::test]
async fn products_come_in_pages_by_sku() {
    let world = World::new().await;
    let mut orders = world.service.orders.clone();
    let mut request = pb::ListProductsRequest {
        page_size: 4,
        page_token: String::new(),
    };
    let first = orders.list_products(request.clone()).await.unwrap();
    let first = first.into_inner();
    request.page_token = first.next_page_token;
    let second = orders.list_products(request).await.unwrap().into_inner();
    assert_eq!(second.next_page_token, "");
    let skus: Vec<String> = [first.products, second.products]
        .concat()
        .into_iter()
        .map(|product| product.sku)
        .collect();
    assert_eq!(skus.len(), 6);
    assert!(skus.is_sorted());
}
