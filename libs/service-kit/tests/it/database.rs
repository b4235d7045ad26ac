//! Sharp edges of the pool and of migrations, on PostgreSQL.

use std::borrow::Cow;
use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use sqlx::PgPool;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use tercet_service_kit::database::{
    Error, MigrateMode, PoolSettings, connect, is_transient, migrate,
};
use tercet_service_kit::owned;
use tercet_testbed::postgres::TestDatabase;
use time::OffsetDateTime;

const SOON: Duration = Duration::from_secs(5);
/// More than a transaction has awaits: the last callers leave after its end.
const POLLS_MAX: usize = 40;

async fn database() -> TestDatabase {
    TestDatabase::from_sql("service_kit", &["CREATE TABLE notes (note text NOT NULL)"]).await
}

async fn pool_of_one(url: &str) -> PgPool {
    let settings = PoolSettings {
        application_name: "service-kit-test".to_owned(),
        connections_max: 1,
    };
    connect(url, &settings).await.unwrap()
}

async fn write_note(pool: PgPool) -> Result<(), sqlx::Error> {
    let mut transaction = pool.begin().await?;
    sqlx::query("INSERT INTO notes VALUES ('x')")
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}

async fn now(pool: &PgPool) -> OffsetDateTime {
    let now = sqlx::query_scalar("SELECT now()").fetch_one(pool).await;
    now.unwrap()
}

#[tokio::test]
async fn a_caller_that_leaves_at_any_moment_leaves_no_transaction_behind() {
    let database = database().await;
    let pool = pool_of_one(database.url()).await;
    for polls in 0..POLLS_MAX {
        {
            let mut call = pin!(owned(write_note(pool.clone())));
            for _ in 0..polls {
                let mut context = Context::from_waker(Waker::noop());
                if call.as_mut().poll(&mut context).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        // The one connection: it comes when the work has ended, and nothing is open on it. Inside a
        // transaction now() stands still.
        let (first, second) = (now(&pool).await, now(&pool).await);
        assert!(
            first < second,
            "left inside a transaction after {polls} polls"
        );
    }
    let written: i64 = sqlx::query_scalar("SELECT count(*) FROM notes")
        .fetch_one(&pool)
        .await
        .unwrap();
    let expected = i64::try_from(POLLS_MAX - 1).unwrap(); // the first was never polled
    assert_eq!(written, expected);
}

#[tokio::test]
async fn a_connection_that_died_while_it_rested_is_replaced() {
    let database = database().await;
    let pool = pool_of_one(database.url()).await;
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(&pool)
        .await
        .unwrap();
    sqlx::query("SELECT pg_terminate_backend($1)")
        .bind(pid)
        .execute(database.pool())
        .await
        .unwrap();
    tercet_testbed::eventually("a new connection", SOON, async || {
        let asked: Result<i32, _> = sqlx::query_scalar("SELECT pg_backend_pid()")
            .fetch_one(&pool)
            .await;
        assert!(asked.as_ref().err().is_none_or(is_transient), "{asked:?}");
        asked.ok()
    })
    .await;
}

#[tokio::test]
async fn a_failed_migration_lets_the_next_start_go_on() {
    let database = database().await;
    let broken = migrator(&[(1, "CREATE TABLE a ()"), (2, "CREATE TABLE a ()")]);
    let error = migrate(database.url(), &broken, MigrateMode::Auto)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Migrate { .. }), "{error}");

    let repaired = migrator(&[(1, "CREATE TABLE a ()"), (2, "CREATE TABLE b ()")]);
    let next = migrate(database.url(), &repaired, MigrateMode::Auto);
    let next = tokio::time::timeout(SOON, next).await;
    next.expect("the lock of migrations was left behind")
        .unwrap();
}

#[tokio::test]
async fn a_schema_newer_than_the_program_is_refused() {
    let database = database().await;
    let newer = migrator(&[(1, "CREATE TABLE a ()"), (7, "CREATE TABLE b ()")]);
    migrate(database.url(), &newer, MigrateMode::Only)
        .await
        .unwrap();

    let older = migrator(&[(1, "CREATE TABLE a ()")]);
    let error = migrate(database.url(), &older, MigrateMode::Auto)
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::SchemaNewer { version: 7, .. }),
        "{error}"
    );
    assert!(!error.is_transient());
    migrate(database.url(), &older, MigrateMode::Off)
        .await
        .unwrap();
}

#[tokio::test]
async fn only_what_the_data_itself_forbids_is_final() {
    let database = database().await;
    for (sql, transient) in [
        ("INSERT INTO notes VALUES (NULL)", false), // 23502
        ("SELECT 1 / (SELECT 0)", false),           // 22012
        ("SELECT * FROM not_yet_migrated", true),   // 42P01
        ("SET statement_timeout = 1; SELECT pg_sleep(1)", true), // 57014
        ("BEGIN READ ONLY; INSERT INTO notes VALUES ('x')", true), // 25006
    ] {
        let pool = pool_of_one(database.url()).await;
        let error = sqlx::raw_sql(sql).execute(&pool).await.unwrap_err();
        assert_eq!(is_transient(&error), transient, "{sql}: {error}");
    }
}

fn migrator(migrations: &[(i64, &'static str)]) -> Migrator {
    let migration = |(version, sql): &(i64, &'static str)| {
        let (name, sql) = (Cow::Borrowed("test"), sqlx::SqlStr::from_static(sql));
        Migration::new(*version, name, MigrationType::Simple, sql, false)
    };
    Migrator::with_migrations(migrations.iter().map(migration).collect())
}
