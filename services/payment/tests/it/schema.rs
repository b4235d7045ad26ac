//! The tables: copies are copies, and the service's role cannot rewrite what was told.

use tercet_payment::startup::MIGRATIONS;

use crate::world::{Saga, World};

#[test]
fn the_libraries_tables_are_copied_to_the_letter() {
    let sql = |version| {
        let migration = MIGRATIONS.iter().find(|m| m.version == version).unwrap();
        migration.sql.as_str().to_owned()
    };
    assert_eq!(sql(1), tercet_outbox::SCHEMA);
    assert_eq!(sql(2), tercet_inbox::GUARD_SCHEMA);
}

#[tokio::test]
async fn the_service_cannot_rewrite_what_was_called_and_told() {
    let (world, app) = World::running().await;
    Saga::new().charged(&world, &app, "pm_card_visa").await;
    for forbidden in [
        "DELETE FROM payments",
        "DELETE FROM refunds",
        "UPDATE gateway_attempts SET result = 'SUCCEEDED'",
        "DELETE FROM gateway_attempts",
        "UPDATE outbox_events SET payload = '{}'",
        "DELETE FROM command_guards",
        "ALTER TABLE payments DROP CONSTRAINT payments_refunded",
    ] {
        let error = sqlx::query(forbidden).execute(&world.service_pool).await;
        let code = error.unwrap_err();
        let code = code.as_database_error().unwrap().code().unwrap();
        assert_eq!(code, "42501", "{forbidden}");
    }
}

#[tokio::test]
async fn no_row_can_say_that_more_was_given_back_than_taken() {
    let (world, app) = World::running().await;
    let saga = Saga::new().charged(&world, &app, "pm_card_visa").await;
    for impossible in [
        "UPDATE payments SET refunded_minor = captured_minor + 1 WHERE payment_id = $1",
        "UPDATE payments SET captured_minor = amount_minor + 1 WHERE payment_id = $1",
        "UPDATE payments SET status = 'REFUNDED' WHERE payment_id = $1",
        "UPDATE payments SET status = 'REFUNDING' WHERE payment_id = $1",
        "UPDATE payments SET next_attempt_at = now() WHERE payment_id = $1",
    ] {
        let error = sqlx::query(impossible)
            .bind(saga.payment)
            .execute(world.database.pool())
            .await
            .unwrap_err();
        let error = error.as_database_error().unwrap();
        assert!(error.is_check_violation(), "{impossible}: {error}");
    }
}
