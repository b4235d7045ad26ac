//! A hold becomes a sale, once; an expired one too, if its goods are still there.

use serde_json::json;
use tercet_inventory::{Error, domain::State};

use crate::support::{House, Saga, accepted, decided};

#[tokio::test]
async fn a_hold_is_sold() {
    let (house, saga) = (House::with(&[("MUG", 5), ("TEA", 10)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("MUG", 1), ("TEA", 2)]).await);
    accepted(saga.commit(&house.app).await);

    assert_eq!(house.stock("MUG").await, (4, 0));
    assert_eq!(house.stock("TEA").await, (8, 0));
    assert_eq!(house.state(&saga).await, State::Committed);
    assert_eq!(
        house.kinds(&saga).await,
        ["StockReserved", "ReservationCommitted"]
    );
    house.take_stock().await;
}

#[tokio::test]
async fn a_duplicate_sells_nothing_more() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    accepted(saga.commit(&house.app).await);
    let outcome = decided(saga.commit(&house.app).await);
    assert_eq!(outcome.event_id, house.events(&saga).await[1].id);
    assert_eq!(house.stock("TEA").await, (8, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn a_hold_past_its_time_is_sold_while_the_sweeper_has_not_come() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    house.overdue(&saga).await;
    accepted(saga.commit(&house.app).await);
    let event = house.events(&saga).await.pop().unwrap();
    assert_ne!(event.payload["afterExpiry"], json!(true));
    assert_eq!(house.stock("TEA").await, (8, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn an_expired_hold_is_sold_if_its_goods_are_still_there() {
    let (house, saga) = (House::with(&[("TEA", 2)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    house.expired(&saga).await;
    accepted(saga.commit(&house.app).await);

    let event = house.events(&saga).await.pop().unwrap();
    assert_eq!(event.kind, "ReservationCommitted");
    assert_eq!(event.payload["afterExpiry"], json!(true));
    assert_eq!(house.state(&saga).await, State::Committed);
    assert_eq!(house.stock("TEA").await, (0, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn an_expired_hold_is_refused_if_its_goods_went_to_somebody_else() {
    let house = House::with(&[("MUG", 1), ("TEA", 3)]).await;
    let (late, quick) = (Saga::new(), Saga::new());
    accepted(late.reserve(&house.app, &[("MUG", 1), ("TEA", 2)]).await);
    house.expired(&late).await;
    accepted(quick.reserve(&house.app, &[("TEA", 2)]).await);
    accepted(late.commit(&house.app).await);

    let event = house.events(&late).await.pop().unwrap();
    assert_eq!(event.kind, "CommitRefused");
    assert_eq!(event.payload["reason"], json!("HOLD_EXPIRED"));
    let missing = json!([{ "sku": "TEA", "requested": "2", "available": "1" }]);
    assert_eq!(event.payload["missingLines"], missing);
    // The mug was there, and stays there: all or nothing.
    assert_eq!(house.stock("MUG").await, (1, 0));
    assert_eq!(house.stock("TEA").await, (3, 2));
    assert_eq!(house.state(&late).await, State::Expired);
    house.take_stock().await;

    // The refusal is final, though the goods come back.
    accepted(quick.release(&house.app).await);
    assert_eq!(decided(late.commit(&house.app).await).event_id, event.id);
    // And the saga's undo finds nothing to give back.
    accepted(late.release(&house.app).await);
    let released = house.events(&late).await.pop().unwrap();
    assert_ne!(released.payload["changed"], json!(true));
    house.take_stock().await;
}

#[tokio::test]
async fn goods_given_back_during_the_wait_are_sold_after_expiry() {
    let house = House::with(&[("TEA", 2)]).await;
    let (late, other) = (Saga::new(), Saga::new());
    accepted(late.reserve(&house.app, &[("TEA", 2)]).await);
    house.expired(&late).await;
    accepted(other.reserve(&house.app, &[("TEA", 2)]).await);

    // The other one's hold is given back in a transaction that does not end yet.
    let mut change = house.pool().begin().await.unwrap();
    sqlx::query("UPDATE stock SET reserved = reserved - 2")
        .execute(&mut *change)
        .await
        .unwrap();
    sqlx::query(
        "INSERT INTO stock_journal (sku, movement, on_hand_delta, reserved_delta, reservation_id)
         VALUES ('TEA', 'RELEASED', 0, -2, $1)",
    )
    .bind(other.reservation_id)
    .execute(&mut *change)
    .await
    .unwrap();
    sqlx::query("UPDATE reservations SET state = 'RELEASED' WHERE id = $1")
        .bind(other.reservation_id)
        .execute(&mut *change)
        .await
        .unwrap();
    let (saga, app) = (late.clone(), house.app.clone());
    let committing = tokio::spawn(async move { saga.commit(&app).await });
    house.waiting(1).await;
    change.commit().await.unwrap();

    accepted(committing.await.unwrap());
    assert_eq!(house.state(&late).await, State::Committed);
    house.take_stock().await;
}

/// Second statement: a commit that waited for the sweeper sees that the hold expired.
#[tokio::test]
async fn a_commit_that_waited_for_the_sweeper_takes_the_stock_anew() {
    let (house, saga) = (House::with(&[("TEA", 2)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    house.overdue(&saga).await;

    // The sweeper has the reservation and stands at the stock; the commit stands behind it.
    let mut in_the_way = house.pool().begin().await.unwrap();
    sqlx::query("SELECT FROM stock FOR UPDATE")
        .execute(&mut *in_the_way)
        .await
        .unwrap();
    let app = house.app.clone();
    let sweeping = tokio::spawn(async move { app.expire_reservations().await });
    house.waiting(1).await;
    let (committer, app) = (saga.clone(), house.app.clone());
    let committing = tokio::spawn(async move { committer.commit(&app).await });
    house.waiting(2).await;
    in_the_way.rollback().await.unwrap();

    assert_eq!(sweeping.await.unwrap().unwrap(), 1);
    accepted(committing.await.unwrap());
    let kinds = [
        "StockReserved",
        "ReservationExpired",
        "ReservationCommitted",
    ];
    assert_eq!(house.kinds(&saga).await, kinds);
    assert_eq!(house.stock("TEA").await, (0, 0));
    house.take_stock().await;
}

#[tokio::test]
async fn a_commit_of_nothing_leaves_no_trace() {
    let (house, saga) = (House::with(&[("TEA", 2)]).await, Saga::new());
    let unknown = saga.commit(&house.app).await;
    assert!(
        matches!(unknown, Err(Error::ReservationNotFound(_))),
        "{unknown:?}"
    );
    // Its guard went with it: the command is decided when it can be.
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    accepted(saga.commit(&house.app).await);
    house.take_stock().await;
}

#[tokio::test]
async fn what_is_not_held_cannot_be_sold() {
    let house = House::with(&[("TEA", 2)]).await;
    let (refused, released) = (Saga::new(), Saga::new());
    accepted(refused.reserve(&house.app, &[("TEA", 9)]).await);
    accepted(released.release(&house.app).await);
    for saga in [refused, released] {
        let wrong = saga.commit(&house.app).await;
        assert!(matches!(wrong, Err(Error::WrongState(_))), "{wrong:?}");
    }
    house.take_stock().await;
}
