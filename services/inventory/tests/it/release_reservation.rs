//! The undo works before its command came, after it, and at the same time.

use serde_json::json;
use tercet_inventory::{Error, domain::State};

use crate::support::{House, Saga, accepted, decided};

#[tokio::test]
async fn a_hold_is_given_back_once() {
    let (house, saga) = (House::with(&[("MUG", 5), ("TEA", 10)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("MUG", 1), ("TEA", 2)]).await);
    accepted(saga.release(&house.app).await);

    assert_eq!(house.stock("MUG").await, (5, 0));
    assert_eq!(house.stock("TEA").await, (10, 0));
    assert_eq!(house.state(&saga).await, State::Released);
    let event = house.events(&saga).await.pop().unwrap();
    assert_eq!(event.kind, "ReservationReleased");
    assert_eq!(event.payload["changed"], json!(true));
    let command = format!("{}:reserve-stock:backward", saga.id);
    assert_eq!(event.headers["ce_commandid"], json!(command));

    assert_eq!(decided(saga.release(&house.app).await).event_id, event.id);
    assert_eq!(house.stock("TEA").await, (10, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn an_undo_that_comes_first_closes_the_door() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.release(&house.app).await);
    let [event] = house.events(&saga).await.try_into().unwrap();
    assert_eq!(event.kind, "ReservationReleased");
    assert_ne!(event.payload["changed"], json!(true));
    assert_eq!(event.payload["orderId"], json!(saga.order_id));

    for _ in 0..2 {
        let late = saga.reserve(&house.app, &[("TEA", 2)]).await;
        assert!(matches!(late, Err(Error::AlreadyUndone)), "{late:?}");
    }
    assert_eq!(house.stock("TEA").await, (10, 0));
    assert_eq!(house.state(&saga).await, State::Released);
    assert_eq!(decided(saga.release(&house.app).await).event_id, event.id);
    house.take_stock().await;
}

#[tokio::test]
async fn a_forward_command_that_was_done_and_undone_stays_undone() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    accepted(saga.release(&house.app).await);
    let late = saga.reserve(&house.app, &[("TEA", 2)]).await;
    assert!(matches!(late, Err(Error::AlreadyUndone)), "{late:?}");
    assert_eq!(house.stock("TEA").await, (10, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn where_nothing_is_held_the_undo_changes_nothing_and_says_so() {
    let house = House::with(&[("TEA", 2)]).await;
    let (refused, expired) = (Saga::new(), Saga::new());
    accepted(refused.reserve(&house.app, &[("TEA", 9)]).await);
    accepted(expired.reserve(&house.app, &[("TEA", 2)]).await);
    house.expired(&expired).await;
    for (saga, state) in [(refused, State::Refused), (expired, State::Expired)] {
        accepted(saga.release(&house.app).await);
        let event = house.events(&saga).await.pop().unwrap();
        assert_eq!(event.kind, "ReservationReleased");
        assert_ne!(event.payload["changed"], json!(true));
        assert_eq!(house.state(&saga).await, state);
    }
    assert_eq!(house.stock("TEA").await, (2, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn sold_goods_are_not_released() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    accepted(saga.commit(&house.app).await);
    let wrong = saga.release(&house.app).await;
    assert!(matches!(wrong, Err(Error::WrongState(_))), "{wrong:?}");
    // The refused undo closed no door.
    decided(saga.reserve(&house.app, &[("TEA", 2)]).await);
    assert_eq!(house.stock("TEA").await, (8, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn who_lost_the_saga_closes_no_door() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.at(5).reserve(&house.app, &[("TEA", 2)]).await);
    let stale = saga.at(4).release(&house.app).await;
    assert!(
        matches!(stale, Err(Error::StaleEpoch { highest: 5 })),
        "{stale:?}"
    );
    assert_eq!(house.state(&saga).await, State::Pending);
    accepted(saga.at(5).commit(&house.app).await);
    house.take_stock().await;
}

/// Second statement: the undo's claim of the forward's key waits for the forward, and then sees it.
#[tokio::test]
async fn an_undo_that_waited_for_its_command_gives_back_what_it_held() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    // The reserve has its guard, and stands at the stock; the undo stands at the guard.
    let mut in_the_way = house.pool().begin().await.unwrap();
    sqlx::query("SELECT FROM stock FOR UPDATE")
        .execute(&mut *in_the_way)
        .await
        .unwrap();
    let (first, app) = (saga.clone(), house.app.clone());
    let reserving = tokio::spawn(async move { first.reserve(&app, &[("TEA", 2)]).await });
    house.waiting(1).await;
    let (second, app) = (saga.clone(), house.app.clone());
    let releasing = tokio::spawn(async move { second.release(&app).await });
    house.waiting(2).await;
    in_the_way.rollback().await.unwrap();

    accepted(reserving.await.unwrap());
    accepted(releasing.await.unwrap());
    assert_eq!(
        house.kinds(&saga).await,
        ["StockReserved", "ReservationReleased"]
    );
    assert_eq!(house.state(&saga).await, State::Released);
    assert_eq!(house.stock("TEA").await, (10, 0));
    house.take_stock().await;
}

/// Second statement, the other way: the command waits for its undo, and then finds the door closed.
#[tokio::test]
async fn a_command_that_waited_for_its_undo_does_nothing() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    // The undo has both guards, and stands at the reservation's key, which somebody else has taken
    // and gives up.
    let mut in_the_way = house.pool().begin().await.unwrap();
    sqlx::query(
        "INSERT INTO reservations (id, order_id, state, version) VALUES ($1, $1, 'RELEASED', 1)",
    )
    .bind(saga.reservation_id)
    .execute(&mut *in_the_way)
    .await
    .unwrap();
    let (first, app) = (saga.clone(), house.app.clone());
    let releasing = tokio::spawn(async move { first.release(&app).await });
    house.waiting(1).await;
    let (second, app) = (saga.clone(), house.app.clone());
    let reserving = tokio::spawn(async move { second.reserve(&app, &[("TEA", 2)]).await });
    house.waiting(2).await;
    in_the_way.rollback().await.unwrap();

    accepted(releasing.await.unwrap());
    let late = reserving.await.unwrap();
    assert!(matches!(late, Err(Error::AlreadyUndone)), "{late:?}");
    assert_eq!(house.stock("TEA").await, (10, 0));
    house.take_stock().await;
}
