//! What the running service may not do to its own database.

use sqlx::error::DatabaseError;

use crate::world::World;

const INSUFFICIENT_PRIVILEGE: &str = "42501";

#[tokio::test]
async fn the_service_cannot_rewrite_history_or_alter_the_schema() {
    let world = World::new().await;
    world.placed().await;
    let pool = world.database.pool_as("order_service").await;
    for statement in [
        "UPDATE saga_log SET detail = 'it never happened'",
        "DELETE FROM saga_log",
        "TRUNCATE saga_log",
        "DELETE FROM sagas",
        "DELETE FROM orders",
        "UPDATE products SET unit_price_minor = 1",
        "UPDATE outbox_events SET payload = '{}'",
        "ALTER TABLE orders ADD COLUMN more text",
        "CREATE TABLE more (id int)",
    ] {
        let refused = sqlx::raw_sql(statement).execute(&pool).await;
        let refused = refused.expect_err(statement);
        let code = refused.as_database_error().and_then(DatabaseError::code);
        assert_eq!(code.as_deref(), Some(INSUFFICIENT_PRIVILEGE), "{statement}");
    }
}
