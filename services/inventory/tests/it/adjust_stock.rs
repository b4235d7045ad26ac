//! Goods come and go for a reason, once each, and never below what is promised.

use futures::future::join_all;
use tercet_inventory::Error;
use uuid::Uuid;

use crate::support::{House, Saga, accepted, adjustment, sku};

#[tokio::test]
async fn a_delivery_makes_its_sku_known() {
    let house = House::with(&[]).await;
    let unknown = house.app.get_stock(sku("TEA")).await;
    assert!(
        matches!(unknown, Err(Error::StockNotFound(_))),
        "{unknown:?}"
    );
    house.deliver("TEA", 5).await.unwrap();
    house.deliver("TEA", 2).await.unwrap();
    house.deliver("TEA", -3).await.unwrap();
    assert_eq!(house.stock("TEA").await, (4, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn what_is_promised_stays() {
    let (house, saga) = (House::with(&[("TEA", 5)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 3)]).await);
    let refused = house.deliver("TEA", -3).await.unwrap_err();
    let Error::BelowReserved(level) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!((level.on_hand, level.reserved), (5, 3));
    house.deliver("TEA", -2).await.unwrap();
    assert_eq!(house.stock("TEA").await, (3, 3));
    house.take_stock().await;
}

#[tokio::test]
async fn nothing_can_be_taken_from_an_unknown_sku() {
    let house = House::with(&[]).await;
    let refused = house.deliver("TEA", -1).await;
    assert!(
        matches!(refused, Err(Error::StockNotFound(_))),
        "{refused:?}"
    );
    house.take_stock().await;
}

#[tokio::test]
async fn the_same_adjustment_has_one_effect_and_its_id_no_second_meaning() {
    let (house, id) = (House::with(&[]).await, Uuid::now_v7());
    for _ in 0..2 {
        let level = house
            .app
            .adjust_stock(adjustment(id, "TEA", 5))
            .await
            .unwrap();
        assert_eq!(level.on_hand, 5);
    }
    for other in [adjustment(id, "TEA", 6), adjustment(id, "MUG", 5)] {
        let reused = house.app.adjust_stock(other).await;
        assert!(matches!(reused, Err(Error::AdjustmentReused)), "{reused:?}");
    }
    assert_eq!(house.stock("TEA").await, (5, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn a_refused_adjustment_can_be_made_later() {
    let (house, id) = (House::with(&[("TEA", 1)]).await, Uuid::now_v7());
    let take = adjustment(id, "TEA", -3);
    assert!(house.app.adjust_stock(take.clone()).await.is_err());
    house.deliver("TEA", 5).await.unwrap();
    assert_eq!(house.app.adjust_stock(take).await.unwrap().on_hand, 3);
    house.take_stock().await;
}

#[tokio::test]
async fn a_crowd_with_one_adjustment_makes_it_once() {
    let (house, id) = (House::with(&[("TEA", 1)]).await, Uuid::now_v7());
    let all = (0..20).map(|_| house.app.adjust_stock(adjustment(id, "TEA", 5)));
    for level in join_all(all).await {
        assert_eq!(level.unwrap().on_hand, 6);
    }
    house.take_stock().await;
}

/// Second statement: the claim waits for a rival of the same id, and then sees what that one did.
#[tokio::test]
async fn a_rival_that_waited_for_the_claim_sees_the_adjustment() {
    let (house, id) = (House::with(&[("TEA", 1)]).await, Uuid::now_v7());
    // The first one has the claim, and stands at the stock.
    let mut in_the_way = house.pool().begin().await.unwrap();
    sqlx::query("SELECT FROM stock FOR UPDATE")
        .execute(&mut *in_the_way)
        .await
        .unwrap();
    let send = |delta| {
        let (app, adjustment) = (house.app.clone(), adjustment(id, "TEA", delta));
        tokio::spawn(async move { app.adjust_stock(adjustment).await })
    };
    let first = send(5);
    house.waiting(1).await;
    let (same, other) = (send(5), send(7));
    house.waiting(3).await;
    in_the_way.rollback().await.unwrap();

    assert_eq!(first.await.unwrap().unwrap().on_hand, 6);
    assert_eq!(same.await.unwrap().unwrap().on_hand, 6);
    let other = other.await.unwrap();
    assert!(matches!(other, Err(Error::AdjustmentReused)), "{other:?}");
    house.take_stock().await;
}
