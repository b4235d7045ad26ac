use tercet_payment::domain::Status;

use crate::world::{Saga, World};

#[tokio::test]
async fn pages_go_from_the_newest_to_the_oldest_without_loss() {
    let (world, app) = World::running().await;
    let mut sagas = Vec::new();
    for _ in 0..5 {
        sagas.push(Saga::new().charged(&world, &app, "pm_card_visa").await);
    }
    sagas.reverse();
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let (page, more) = app
            .list_payments(Some(Status::Charged), after, 2)
            .await
            .unwrap();
        assert!(page.len() <= 2);
        seen.extend(page.iter().map(|payment| payment.id.uuid()));
        after = page
            .last()
            .map(|payment| (payment.created_at, payment.id.uuid()));
        if !more {
            break;
        }
    }
    let newest_first: Vec<_> = sagas.iter().map(|saga| saga.payment).collect();
    assert_eq!(seen, newest_first);
    let (none, more) = app
        .list_payments(Some(Status::Refunded), None, 10)
        .await
        .unwrap();
    assert!(none.is_empty() && !more);
}
