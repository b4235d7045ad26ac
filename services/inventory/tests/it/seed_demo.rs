//! The demo's stock arrives once, however often the service starts.

use crate::support::{House, Saga, accepted};

#[tokio::test]
async fn what_was_sold_since_stays_sold() {
    let (house, saga) = (House::with(&[]).await, Saga::new());
    house.app.seed_demo().await.unwrap();
    let (before, _) = house.stock("TEA-GREEN-100G").await;
    accepted(saga.reserve(&house.app, &[("TEA-GREEN-100G", 2)]).await);
    accepted(saga.commit(&house.app).await);
    house.app.seed_demo().await.unwrap();
    assert_eq!(house.stock("TEA-GREEN-100G").await, (before - 2, 0));
    house.take_stock().await;
}
