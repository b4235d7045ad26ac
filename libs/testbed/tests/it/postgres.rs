use std::borrow::Cow;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use tercet_testbed::postgres::TestDatabase;

const SCHEMA: &str = "CREATE TABLE things (name text PRIMARY KEY)";

#[tokio::test]
async fn each_database_is_ones_own_and_goes_with_its_value() {
    let (one, other) = tokio::join!(
        TestDatabase::from_sql("things", &[SCHEMA]),
        TestDatabase::from_sql("things", &[SCHEMA]),
    );
    sqlx::query("INSERT INTO things VALUES ('x')")
        .execute(one.pool())
        .await
        .unwrap();
    let there: i64 = sqlx::query_scalar("SELECT count(*) FROM things")
        .fetch_one(other.pool())
        .await
        .unwrap();
    assert_eq!(there, 0);

    let gone = one
        .url()
        .rsplit_once('/')
        .unwrap()
        .1
        .split('?')
        .next()
        .unwrap()
        .to_owned();
    drop(one);
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_database WHERE datname = $1")
        .bind(&gone)
        .fetch_one(other.pool())
        .await
        .unwrap();
    assert_eq!(left, 0, "{gone} is still there");
}

#[tokio::test]
async fn the_service_role_has_what_the_migrations_grant_and_no_more() {
    let migrator = migrator(
        "CREATE TABLE journal (line text NOT NULL);
         GRANT SELECT, INSERT ON journal TO order_service",
    );
    let database = TestDatabase::migrated("order", &migrator).await;
    let service = database.pool_as("order_service").await;

    sqlx::query("INSERT INTO journal VALUES ('a')")
        .execute(&service)
        .await
        .unwrap();
    for refused in [
        "UPDATE journal SET line = 'b'",
        "DROP TABLE journal",
        "CREATE TABLE more ()",
    ] {
        let error = sqlx::query(refused).execute(&service).await.unwrap_err();
        let code = error
            .as_database_error()
            .unwrap()
            .code()
            .unwrap()
            .into_owned();
        assert_eq!(code, "42501", "{refused}: {error}");
    }

    let stranger = sqlx::PgPool::connect(&database.url_as("payment_service")).await;
    assert!(stranger.is_err(), "another service can connect");
}

#[tokio::test]
async fn the_server_ends_what_a_service_no_longer_waits_for() {
    let database = TestDatabase::migrated("order", &migrator("SELECT 1")).await;
    let service = database.pool_as("order_service").await;
    for (setting, value) in [
        ("statement_timeout", "5s"),
        ("lock_timeout", "2s"),
        ("idle_in_transaction_session_timeout", "5s"),
    ] {
        let actual: String = sqlx::query_scalar("SELECT current_setting($1)")
            .bind(setting)
            .fetch_one(&service)
            .await
            .unwrap();
        assert_eq!(actual, value, "{setting}");
    }
}

fn migrator(sql: &'static str) -> Migrator {
    Migrator::with_migrations(vec![Migration::new(
        1,
        Cow::Borrowed("test"),
        MigrationType::Simple,
        sqlx::SqlStr::from_static(sql),
        false,
    )])
}
