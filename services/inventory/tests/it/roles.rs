//! The running service cannot rewrite what it wrote, whatever its code believes.

use crate::support::{House, Saga, accepted};

const FORBIDDEN: [&str; 9] = [
    "UPDATE stock_journal SET on_hand_delta = 0",
    "DELETE FROM stock_journal",
    "TRUNCATE stock_journal",
    "DELETE FROM stock",
    "DELETE FROM reservations",
    "UPDATE reservation_lines SET quantity = 1",
    "DELETE FROM command_guards",
    "UPDATE outbox_events SET payload = '{}'",
    "ALTER TABLE stock DROP CONSTRAINT stock_never_oversold",
];

#[tokio::test]
async fn the_service_s_role_cannot_touch_the_past_nor_the_schema() {
    let (house, saga) = (House::with(&[("TEA", 10)]).await, Saga::new());
    accepted(saga.reserve(&house.app, &[("TEA", 2)]).await);
    let pool = house.database().pool_as("inventory_service").await;
    for sql in FORBIDDEN {
        let error = sqlx::query(sql).execute(&pool).await.unwrap_err();
        let code = error.as_database_error().unwrap().code().unwrap();
        assert_eq!(code, "42501", "{sql}: {error}");
    }
    house.take_stock().await;
}

#[tokio::test]
async fn beneath_every_statement_the_table_itself_refuses_to_be_oversold() {
    let house = House::with(&[("TEA", 10)]).await;
    let pool = house.database().pool_as("inventory_service").await;
    for sql in [
        "UPDATE stock SET reserved = 11",
        "UPDATE stock SET reserved = -1",
        "UPDATE stock SET on_hand = -1",
    ] {
        let error = sqlx::query(sql).execute(&pool).await.unwrap_err();
        let constraint = error.as_database_error().unwrap().constraint();
        assert_eq!(constraint, Some("stock_never_oversold"), "{sql}");
    }
}
