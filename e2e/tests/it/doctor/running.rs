//! A system that runs, and each thing about it that can be wrong.

use sqlx::{AssertSqlSafe, PgPool};
use tercet_cli::{stack::Part, topics};
use tercet_testbed::kafka;

use super::{
    asking::{Answer, doctor},
    old_postgres::OldPostgres,
};
use crate::world::{self, World};

#[test]
fn a_system_is_sound_and_then_each_part_is_wrong() {
    world::run(async {
        let mut world = World::start("doctor", |options| options).await;
        ask(&world, &[]).await.assert_clean();

        let topic = format!("{}.payment.events.v1", world.stack.topic_prefix());
        topics_are_wrong(&world, &topic).await;
        schemas_are_wrong(&world).await;
        a_clock_is_wrong(&world).await;
        nobody_is_there(&world).await;

        world.stack.kill9(Part::Inventory).await.unwrap();
        let answer = ask(&world, &[]).await;
        answer.assert(
            "PROBLEM",
            "inventory-service",
            &["takes no connections", "start it"],
        );
        answer.assert_problems(1);
        world.stack.restart(Part::Inventory).await.unwrap();
        ask(&world, &[]).await.assert_clean();
        world.close().await;
    });
}

/// About the running system, with other places to look at.
async fn ask(world: &World, places: &[(&str, &str)]) -> Answer {
    let all = world.stack.places();
    let all = all
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let variables: Vec<_> = all.chain(places.iter().copied()).collect();
    doctor(&["--for", "running"], &variables).await
}

async fn topics_are_wrong(world: &World, topic: &str) {
    kafka::delete_topic(topic).await;
    let answer = ask(world, &[]).await;
    answer.assert(
        "PROBLEM",
        topic,
        &["does not exist", "12 partitions", "TOPIC_PREFIX"],
    );
    kafka::create_topic(topic, 3).await;
    let answer = ask(world, &[]).await;
    answer.assert("PROBLEM", topic, &["3 partitions instead of 12", "--alter"]);
    assert_eq!(answer.exit, 1);
    kafka::delete_topic(topic).await;
    let made = topics::create(world.stack.brokers(), world.stack.topic_prefix()).await;
    made.unwrap_or_else(|error| panic!("{error:#}"));
}

async fn schemas_are_wrong(world: &World) {
    let looks = &world.looks;
    let newer =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (9999, 'from the future', true, '\\x00', 0)";
    let edited = "UPDATE _sqlx_migrations SET checksum = checksum || '\\x00' WHERE version = 5";
    change(&looks.order, newer).await;
    change(&looks.inventory, edited).await;
    let answer = ask(world, &[]).await;
    let words = ["migration 9999", "run a newer order-service"];
    answer.assert("PROBLEM", "order schema", &words);
    let words = ["its migration 5 is not the one", "must not be edited"];
    answer.assert("PROBLEM", "inventory schema", &words);
    answer.assert_problems(2);
    change(
        &looks.order,
        "DELETE FROM _sqlx_migrations WHERE version = 9999",
    )
    .await;
    let mended = "UPDATE _sqlx_migrations SET checksum = substr(checksum, 1, 48) WHERE version = 5";
    change(&looks.inventory, mended).await;

    let keep = "CREATE TABLE kept AS SELECT * FROM _sqlx_migrations WHERE version = 6";
    run(&looks.payment, &[keep.to_owned()]).await;
    change(
        &looks.payment,
        "DELETE FROM _sqlx_migrations WHERE version = 6",
    )
    .await;
    let answer = ask(world, &[]).await;
    let words = ["lacks migration 6", "payment-service --migrate=only"];
    answer.assert("PROBLEM", "payment schema", &words);
    let back = "INSERT INTO _sqlx_migrations SELECT * FROM kept; DROP TABLE kept";
    run(&looks.payment, &[back.to_owned()]).await;

    // The services' roles cannot read it: then it is not known, which is not wrong.
    let service = world.stack.databases().order.service_url.clone();
    let places = [
        ("ORDER_MIGRATE_URL", &*service),
        ("ORDER_DATABASE_URL", &*service),
    ];
    let answer = ask(world, &places).await;
    let words = ["permission denied", "ORDER_MIGRATE_URL"];
    answer.assert("WARNING", "order schema", &words);
    answer.assert_problems(0);
}

async fn change(pool: &PgPool, sql: &str) {
    let changed = sqlx::query(AssertSqlSafe(sql.to_owned()))
        .execute(pool)
        .await;
    assert_eq!(changed.unwrap().rows_affected(), 1, "{sql}");
}

/// Whoever connects to that database is told the time of an hour ago.
async fn a_clock_is_wrong(world: &World) {
    let name = &world.stack.databases().inventory.name;
    let shadow = [
        "CREATE SCHEMA wrong; GRANT USAGE ON SCHEMA wrong TO PUBLIC".to_owned(),
        "CREATE FUNCTION wrong.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
         'SELECT pg_catalog.clock_timestamp() - interval ''1 hour'''"
            .to_owned(),
        format!("ALTER DATABASE \"{name}\" SET search_path = wrong, pg_catalog, public"),
    ];
    let right = [
        format!("ALTER DATABASE \"{name}\" RESET search_path"),
        "DROP SCHEMA wrong CASCADE".to_owned(),
    ];
    run(&world.looks.inventory, &shadow).await;
    let answer = ask(world, &[]).await;
    answer.assert(
        "PROBLEM",
        "inventory clock",
        &["behind this machine's", "NTP"],
    );
    answer.assert_problems(1);
    run(&world.looks.inventory, &right).await;
}

async fn run(pool: &PgPool, statements: &[String]) {
    for sql in statements {
        sqlx::raw_sql(AssertSqlSafe(sql.clone()))
            .execute(pool)
            .await
            .unwrap();
    }
}

async fn nobody_is_there(world: &World) {
    let gone = "postgres://nobody@127.0.0.1:1/gone";
    let answer = ask(world, &[("PAYMENT_DATABASE_URL", gone)]).await;
    answer.assert(
        "PROBLEM",
        "payment database",
        &["127.0.0.1:1/gone does not answer", "PAYMENT_DATABASE_URL"],
    );
    answer.assert_problems(1);

    let old = OldPostgres::start().await;
    let url = format!("postgres://somebody@{}/old", old.address);
    let answer = ask(world, &[("ORDER_DATABASE_URL", &url)]).await;
    answer.assert(
        "PROBLEM",
        "order database",
        &["PostgreSQL 13.4", "15 or newer"],
    );
    answer.assert_problems(1);

    let answer = ask(world, &[("KAFKA_BROKERS", "127.0.0.1:1")]).await;
    answer.assert("PROBLEM", "Kafka", &["connection refused", "KAFKA_BROKERS"]);
    answer.assert_problems(1);

    // Somebody else's port: it answers, and is no card processor.
    let other = format!("http://{}", world.stack.admin_address(Part::Payment).ip());
    let other = format!("{other}:{}", world.stack.address(Part::Payment).port());
    let answer = ask(world, &[("PAYMENT_GATEWAY_URL", &other)]).await;
    answer.assert("PROBLEM", "card processor", &["PAYMENT_GATEWAY_URL"]);
    let port = format!("port {}", world.stack.address(Part::Payment).port());
    answer.assert(
        "PROBLEM",
        &port,
        &["payment-service, pid", "the card processor wants it"],
    );
}
