//! Many at once: nothing is oversold, nobody waits in a circle, nothing is lost.

use futures::future::join_all;
use tercet_inventory::{Ack, domain::State};

use crate::support::{House, Saga, accepted};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_piece_is_sold_once() {
    let house = House::with(&[("TEA", 1)]).await;
    let sagas: Vec<Saga> = (0..60).map(|_| Saga::new()).collect();
    let tasks = sagas.iter().cloned().map(|saga| {
        let app = house.app.clone();
        tokio::spawn(async move { saga.reserve(&app, &[("TEA", 1)]).await })
    });
    for ack in join_all(tasks).await {
        accepted(ack.unwrap());
    }
    let mut held = 0;
    for saga in &sagas {
        held += usize::from(house.state(saga).await == State::Pending);
    }
    assert_eq!(held, 1);
    assert_eq!(house.stock("TEA").await, (1, 1));
    house.take_stock().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn as_many_are_held_as_there_are_and_no_fewer() {
    let house = House::with(&[("TEA", 25)]).await;
    let sagas: Vec<Saga> = (0..80).map(|_| Saga::new()).collect();
    let tasks = sagas.iter().cloned().map(|saga| {
        let app = house.app.clone();
        tokio::spawn(async move { saga.reserve(&app, &[("TEA", 1)]).await })
    });
    for ack in join_all(tasks).await {
        accepted(ack.unwrap());
    }
    assert_eq!(house.stock("TEA").await, (25, 25));
    house.take_stock().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twenty_copies_of_one_command_hold_once() {
    let (house, saga) = (House::with(&[("TEA", 100)]).await, Saga::new());
    let tasks = (0..20).map(|_| {
        let (saga, app) = (saga.clone(), house.app.clone());
        tokio::spawn(async move { saga.reserve(&app, &[("TEA", 2)]).await.unwrap() })
    });
    let acks = join_all(tasks).await;
    let fresh = acks.iter().filter(|ack| matches!(ack, Ok(Ack::Accepted)));
    assert_eq!(fresh.count(), 1);
    assert_eq!(house.stock("TEA").await, (100, 2));
    house.take_stock().await;
}

/// Baskets of the same goods in every order, sold, given back and swept at once. A deadlock would end
/// one of them with an error, and every error fails the test.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn opposite_orders_of_skus_do_not_wait_in_a_circle() {
    let house = House::with(&[("A", 500), ("B", 500), ("C", 500)]).await;
    let baskets: [&[(&str, i64)]; 4] = [
        &[("A", 1), ("B", 1), ("C", 1)],
        &[("C", 1), ("B", 1), ("A", 1)],
        &[("B", 1), ("A", 1)],
        &[("C", 1), ("A", 1)],
    ];
    let lives = (0..120).map(|number| {
        let (saga, app) = (Saga::new(), house.app.clone());
        let (basket, pool) = (baskets[number % 4], house.pool().clone());
        tokio::spawn(async move {
            accepted(saga.reserve(&app, basket).await);
            match number % 3 {
                0 => accepted(saga.commit(&app).await),
                1 => accepted(saga.release(&app).await),
                _ => {
                    sqlx::query("UPDATE reservations SET expires_at = now() WHERE id = $1")
                        .bind(saga.reservation_id)
                        .execute(&pool)
                        .await
                        .unwrap();
                    app.expire_reservations().await.unwrap();
                }
            }
        })
    });
    for life in join_all(lives).await {
        life.unwrap();
    }
    while house.app.expire_reservations().await.unwrap() > 0 {}
    for sku in ["A", "B", "C"] {
        assert_eq!(house.stock(sku).await.1, 0, "{sku}");
    }
    house.take_stock().await;
}

/// A command and its undo, sent at the same moment: in whichever order they are taken, nothing stays
/// held, and the undo has its outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_command_and_its_undo_at_once_leave_nothing_held() {
    let house = House::with(&[("TEA", 1_000)]).await;
    let sagas: Vec<Saga> = (0..60).map(|_| Saga::new()).collect();
    let tasks = sagas.iter().cloned().flat_map(|saga| {
        let (forward, app) = (saga.clone(), house.app.clone());
        let forward = tokio::spawn(async move { drop(forward.reserve(&app, &[("TEA", 1)]).await) });
        let app = house.app.clone();
        let backward = tokio::spawn(async move { accepted(saga.release(&app).await) });
        [forward, backward]
    });
    for task in join_all(tasks).await {
        task.unwrap();
    }
    for saga in &sagas {
        assert_eq!(house.state(saga).await, State::Released);
    }
    assert_eq!(house.stock("TEA").await, (1_000, 0));
    house.take_stock().await;
}
