//! A basket is held whole or not at all, once, whatever comes how often and at the same time.

use std::time::Duration;

use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use tercet_inbox::guard::{Admission, admit_forward};
use tercet_inventory::{Ack, Error, domain::State};

use crate::support::{HOLD_MAX, House, Saga, accepted, decided};

#[tokio::test]
async fn a_basket_is_held_whole_and_told() {
    let (house, saga) = (House::with(&[("MUG", 5), ("TEA", 10)]).await, Saga::new());
    accepted(
        saga.reserve(&house.app, &[("TEA", 2), ("MUG", 1), ("TEA", 1)])
            .await,
    );

    assert_eq!(house.stock("TEA").await, (10, 3));
    assert_eq!(house.stock("MUG").await, (5, 1));
    let reservation = house.reservation(&saga).await;
    assert_eq!(
        (reservation.state, reservation.version),
        (State::Pending, 1)
    );
    assert_eq!(reservation.order_id.uuid(), saga.order_id);

    let [event] = house.events(&saga).await.try_into().unwrap();
    assert_eq!(event.kind, "StockReserved");
    assert_eq!(event.payload["reservationId"], json!(saga.reservation_id));
    assert_eq!(event.payload["orderId"], json!(saga.order_id));
    let lines = json!([{ "sku": "MUG", "quantity": "1" }, { "sku": "TEA", "quantity": "3" }]);
    assert_eq!(event.payload["lines"], lines);
    assert!(event.payload["expireTime"].as_str().unwrap().ends_with('Z'));
    assert!(event.payload["occurredAt"].as_str().unwrap().ends_with('Z'));
    let id = saga.id.to_string();
    assert_eq!(event.headers["ce_sagaid"], json!(id));
    assert_eq!(event.headers["ce_correlationid"], json!(id));
    assert_eq!(
        event.headers["ce_commandid"],
        json!(format!("{id}:reserve-stock:forward"))
    );
    assert_eq!(event.headers["ce_outcome"], json!("final"));
    house.take_stock().await;
}

#[tokio::test]
async fn one_missing_line_refuses_the_basket_and_tells_every_missing_one() {
    let (house, saga) = (House::with(&[("MUG", 5), ("TEA", 1)]).await, Saga::new());
    accepted(
        saga.reserve(&house.app, &[("MUG", 1), ("TEA", 2), ("HAT", 1)])
            .await,
    );

    assert_eq!(house.stock("MUG").await, (5, 0));
    assert_eq!(house.stock("TEA").await, (1, 0));
    assert_eq!(house.state(&saga).await, State::Refused);
    let [event] = house.events(&saga).await.try_into().unwrap();
    assert_eq!(event.kind, "ReservationRefused");
    assert_eq!(event.payload["reason"], json!("OUT_OF_STOCK"));
    let missing = json!([
        { "sku": "HAT", "requested": "1" },
        { "sku": "TEA", "requested": "2", "available": "1" },
    ]);
    assert_eq!(event.payload["missingLines"], missing);
    house.take_stock().await;
}

#[tokio::test]
async fn a_duplicate_is_answered_with_the_first_outcome_and_locks_no_stock() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    let [event] = house.events(&saga).await.try_into().unwrap();

    // Somebody sits on the stock: a duplicate that wanted it would wait, and fail.
    let mut in_the_way = house.pool().begin().await.unwrap();
    sqlx::query("SELECT FROM stock FOR UPDATE")
        .execute(&mut *in_the_way)
        .await
        .unwrap();
    let again = tokio::time::timeout(
        Duration::from_secs(1),
        saga.reserve(&house.app, &[("TEA", 2)]),
    );
    let outcome = decided(again.await.expect("a duplicate waits for nobody"));
    in_the_way.rollback().await.unwrap();

    assert_eq!(outcome.event_id, event.id);
    assert_eq!(outcome.event_type, "tercet.events.v1.StockReserved");
    assert_eq!(outcome.payload, event.payload);
    assert_eq!(json!(outcome.headers), event.headers);
    assert_eq!(house.events(&saga).await.len(), 1);
    assert_eq!(house.stock("TEA").await, (10, 2));
    house.take_stock().await;
}

#[tokio::test]
async fn a_refusal_stays_one_though_the_goods_have_come_since() {
    let (house, saga) = (House::with(&[("TEA", 1)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    house.deliver("TEA", 10).await.unwrap();
    let outcome = decided(saga.reserve(&house.app, &[("TEA", 2)]).await);
    assert_eq!(outcome.event_type, "tercet.events.v1.ReservationRefused");
    house.take_stock().await;
}

#[tokio::test]
async fn who_lost_the_saga_is_told_by_which_epoch() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.at(2).reserve(&house.app, &[("TEA", 2)]).await);
    let stale = saga.at(1).reserve(&house.app, &[("TEA", 2)]).await;
    assert!(
        matches!(stale, Err(Error::StaleEpoch { highest: 2 })),
        "{stale:?}"
    );
    house.take_stock().await;
}

#[tokio::test]
async fn a_duplicate_s_higher_epoch_is_remembered() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.at(1).reserve(&house.app, &[("TEA", 2)]).await);
    decided(saga.at(3).reserve(&house.app, &[("TEA", 2)]).await);
    // Another step of it, by the one who does not know yet.
    let stale = saga.at(2).commit(&house.app).await;
    assert!(
        matches!(stale, Err(Error::StaleEpoch { highest: 3 })),
        "{stale:?}"
    );
    assert_eq!(house.state(&saga).await, State::Pending);
    house.take_stock().await;
}

#[tokio::test]
async fn a_reservation_of_another_saga_is_not_touched() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    let thief = Saga {
        reservation_id: saga.reservation_id,
        ..Saga::new()
    };
    let refused = thief.reserve(&house.app, &[("TEA", 5)]).await.unwrap_err();
    assert!(!refused.is_transient(), "{refused:?}");
    assert_eq!(house.stock("TEA").await, (10, 2));
    house.take_stock().await;
}

#[tokio::test]
async fn a_hold_is_granted_for_as_long_as_the_house_allows() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    let mut command = saga.reserve_command(&[("TEA", 1)]);
    command.hold = HOLD_MAX * 24;
    accepted(house.app.reserve_stock(command).await);
    let reservation = house.reservation(&saga).await;
    let granted = reservation.expires_at.unwrap() - reservation.created_at;
    assert!(granted <= HOLD_MAX + Duration::from_secs(5), "{granted}");
    house.take_stock().await;
}

/// Second statement: the guard's insert waits for the first command, and then sees what it decided.
#[tokio::test]
async fn a_rival_that_waited_for_the_guard_sees_the_outcome() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    // The first one has the guard, and stands at the stock.
    let mut in_the_way = house.pool().begin().await.unwrap();
    sqlx::query("SELECT FROM stock FOR UPDATE")
        .execute(&mut *in_the_way)
        .await
        .unwrap();
    let send = |saga: Saga, app: tercet_inventory::App| {
        tokio::spawn(async move { saga.reserve(&app, &[("TEA", 2)]).await })
    };
    let first = send(saga.clone(), house.app.clone());
    house.waiting(1).await;
    let second = send(saga.clone(), house.app.clone());
    house.waiting(2).await;
    in_the_way.rollback().await.unwrap();

    accepted(first.await.unwrap());
    let [event] = house.events(&saga).await.try_into().unwrap();
    assert_eq!(decided(second.await.unwrap()).event_id, event.id);
    assert_eq!(house.stock("TEA").await, (10, 2));
    house.take_stock().await;
}

#[tokio::test]
async fn a_rival_that_waited_for_one_who_gave_up_acts_itself() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    let mut first = PgConnection::connect(house.database().url()).await.unwrap();
    let mut first = first.begin().await.unwrap();
    let key = saga.key("reserve-stock", "forward");
    assert_eq!(
        admit_forward(&mut first, &key).await.unwrap(),
        Admission::Fresh
    );

    let (rival, app) = (saga.clone(), house.app.clone());
    let second = tokio::spawn(async move { rival.reserve(&app, &[("TEA", 2)]).await });
    house.waiting(1).await;
    first.rollback().await.unwrap();
    accepted(second.await.unwrap());
    assert_eq!(house.stock("TEA").await, (10, 2));
    house.take_stock().await;
}

/// The verdict is about the rows as they are after the wait, in both directions.
#[tokio::test]
async fn goods_that_come_during_the_wait_are_held() {
    let (house, saga) = (House::with(&[("TEA", 1)]).await, Saga::new());
    let reserved = during_a_change(&house, &saga, 4).await;
    accepted(reserved);
    assert_eq!(house.state(&saga).await, State::Pending);
    assert_eq!(house.stock("TEA").await, (5, 5));
    house.take_stock().await;
}

#[tokio::test]
async fn goods_that_go_during_the_wait_are_missed() {
    let (house, saga) = (House::with(&[("TEA", 6)]).await, Saga::new());
    let reserved = during_a_change(&house, &saga, -2).await;
    accepted(reserved);
    assert_eq!(house.state(&saga).await, State::Refused);
    let [event] = house.events(&saga).await.try_into().unwrap();
    assert_eq!(event.payload["missingLines"][0]["available"], json!("4"));
    house.take_stock().await;
}

/// Reserves five while somebody has changed the stock and not committed yet.
async fn during_a_change(house: &House, saga: &Saga, delta: i64) -> Result<Ack, Error> {
    let mut change = house.pool().begin().await.unwrap();
    sqlx::query("UPDATE stock SET on_hand = on_hand + $1")
        .bind(delta)
        .execute(&mut *change)
        .await
        .unwrap();
    sqlx::query(
        "INSERT INTO stock_journal (sku, movement, on_hand_delta, reserved_delta, adjustment_id)
         VALUES ('TEA', 'ADJUSTED', $1, 0, gen_random_uuid())",
    )
    .bind(delta)
    .execute(&mut *change)
    .await
    .unwrap();
    let (saga, app) = (saga.clone(), house.app.clone());
    let reserving = tokio::spawn(async move { saga.reserve(&app, &[("TEA", 5)]).await });
    house.waiting(1).await;
    change.commit().await.unwrap();
    reserving.await.unwrap()
}
