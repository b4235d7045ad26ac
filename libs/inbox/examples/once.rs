//! One message, sent twice, has one effect. `testbed exec -- cargo run --example once -p tercet-inbox`
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use tercet_inbox::{INBOX_SCHEMA, Seen, record};
use tercet_testbed::postgres::TestDatabase;
use uuid::Uuid;

/// A handler's transaction: the inbox row and the effect, or neither.
async fn give_a_point(pool: &sqlx::PgPool, message_id: Uuid) -> anyhow::Result<Seen> {
    let mut tx = pool.begin().await?;
    let seen = record(&mut tx, "points", message_id).await?;
    if seen == Seen::First {
        sqlx::query("UPDATE points SET total = total + 1")
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await?;
    Ok(seen)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let points = "CREATE TABLE points (total bigint NOT NULL); INSERT INTO points VALUES (0)";
    let database = TestDatabase::from_sql("points", &[INBOX_SCHEMA, points]).await;
    let pool = database.pool();
    let message_id = Uuid::now_v7();
    // At once, as when two processes hold the message: one waits for the other.
    let (one, two) = tokio::join!(
        give_a_point(pool, message_id),
        give_a_point(pool, message_id)
    );
    println!("{:?} and {:?}", one?, two?);
    let total: i64 = sqlx::query_scalar("SELECT total FROM points")
        .fetch_one(pool)
        .await?;
    println!("points: {total}");
    Ok(())
}
