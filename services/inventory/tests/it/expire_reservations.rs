//! The sweeper ends holds whose time is over, a batch at a time, and nobody else's.

use futures::future::join_all;
use sqlx::Row as _;
use tercet_inventory::domain::State;

use crate::support::{House, Saga, accepted};

#[tokio::test]
async fn only_holds_whose_time_is_over_expire() {
    let house = House::with(&[("TEA", 10)]).await;
    let (over, not_yet) = (Saga::new(), Saga::new());
    accepted(over.reserve(&house.app, &[("TEA", 2)]).await);
    accepted(not_yet.reserve(&house.app, &[("TEA", 3)]).await);
    house.overdue(&over).await;

    assert_eq!(house.app.expire_reservations().await.unwrap(), 1);
    assert_eq!(house.app.expire_reservations().await.unwrap(), 0);
    assert_eq!(house.state(&over).await, State::Expired);
    assert_eq!(house.state(&not_yet).await, State::Pending);
    assert_eq!(house.stock("TEA").await, (10, 3));
    let event = house.events(&over).await.pop().unwrap();
    assert_eq!(event.kind, "ReservationExpired");
    assert!(
        event.headers.get("ce_commandid").is_none(),
        "nobody asked for it"
    );
    house.take_stock().await;
}

#[tokio::test]
async fn a_batch_has_a_bound_and_nothing_is_left() {
    let house = House::with(&[("MUG", 100), ("TEA", 100)]).await;
    let sagas: Vec<Saga> = (0..60).map(|_| Saga::new()).collect();
    for saga in &sagas {
        accepted(saga.reserve(&house.app, &[("MUG", 1), ("TEA", 1)]).await);
        house.overdue(saga).await;
    }
    assert_eq!(house.app.expire_reservations().await.unwrap(), 50);
    assert_eq!(house.app.expire_reservations().await.unwrap(), 10);
    assert_eq!(house.stock("TEA").await, (100, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn a_hold_that_somebody_works_on_is_left_to_him() {
    let house = House::with(&[("TEA", 10)]).await;
    let (busy, free) = (Saga::new(), Saga::new());
    for saga in [&busy, &free] {
        accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
        house.overdue(saga).await;
    }
    let mut working = house.pool().begin().await.unwrap();
    sqlx::query("SELECT FROM reservations WHERE id = $1 FOR UPDATE")
        .bind(busy.reservation_id)
        .execute(&mut *working)
        .await
        .unwrap();
    assert_eq!(house.app.expire_reservations().await.unwrap(), 1);
    working.rollback().await.unwrap();
    assert_eq!(house.state(&busy).await, State::Pending);
    assert_eq!(house.state(&free).await, State::Expired);
    house.take_stock().await;
}

/// The batch's first hold is of the SKU that comes last. Whoever locks hold by hold has `TEA` already
/// when he comes to `MUG`, and meets a basket of both in a circle.
#[tokio::test]
async fn a_batch_locks_its_skus_in_order_over_all_its_holds() {
    let house = House::with(&[("MUG", 10), ("TEA", 10)]).await;
    for sku in ["TEA", "MUG"] {
        let saga = Saga::new();
        accepted(saga.reserve(&house.app, &[(sku, 1)]).await);
        house.overdue(&saga).await;
    }
    let lock = "SELECT FROM stock WHERE sku = $1 FOR UPDATE NOWAIT";
    let mut in_the_way = house.pool().begin().await.unwrap();
    sqlx::query(lock)
        .bind("MUG")
        .execute(&mut *in_the_way)
        .await
        .unwrap();
    let app = house.app.clone();
    let sweeping = tokio::spawn(async move { app.expire_reservations().await });
    house.waiting(1).await;

    let tea = sqlx::query(lock)
        .bind("TEA")
        .execute(&mut *in_the_way)
        .await;
    tea.expect("who waits for the first SKU has not locked the second");
    in_the_way.rollback().await.unwrap();
    assert_eq!(sweeping.await.unwrap().unwrap(), 2);
    house.take_stock().await;
}

#[tokio::test]
async fn many_sweepers_expire_each_hold_once() {
    let house = House::with(&[("MUG", 200), ("TEA", 200)]).await;
    for _ in 0..120 {
        let saga = Saga::new();
        accepted(saga.reserve(&house.app, &[("TEA", 1), ("MUG", 1)]).await);
        house.overdue(&saga).await;
    }
    let sweepers = (0..6).map(|_| house.app.expire_reservations());
    let first: usize = join_all(sweepers)
        .await
        .into_iter()
        .map(Result::unwrap)
        .sum();
    let mut rest = 0;
    while let expired @ 1.. = house.app.expire_reservations().await.unwrap() {
        rest += expired;
    }
    assert_eq!(first + rest, 120);
    let row = sqlx::query("SELECT count(*) AS n FROM stock_journal WHERE movement = 'EXPIRED'")
        .fetch_one(house.pool())
        .await
        .unwrap();
    assert_eq!(row.get::<i64, _>("n"), 240);
    assert_eq!(house.stock("TEA").await, (200, 0));
    house.take_stock().await;
}
