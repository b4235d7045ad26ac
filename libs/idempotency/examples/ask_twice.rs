//! A call, its repetition, and its abuse. `testbed exec -- cargo run --example ask_twice -p tercet-idempotency`
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::time::Duration;

use tercet_idempotency::{Begin, Claim, Fingerprint, Key, SCHEMA, begin, complete};
use tercet_testbed::postgres::TestDatabase;

async fn place_order(pool: &sqlx::PgPool, key: &str, sku: &str) -> anyhow::Result<Begin> {
    let claim = Claim {
        tenant: "default".into(),
        method: "PlaceOrder".into(),
        key: Key::parse(key)?,
        fingerprint: Fingerprint::new().field("sku", sku).finish(),
    };
    let mut tx = pool.begin().await?;
    let begun = begin(&mut tx, &claim, Duration::from_hours(24)).await?;
    if begun == Begin::Fresh {
        complete(&mut tx, &claim, b"order 7").await?; // after the work, in its transaction
    }
    tx.commit().await?;
    Ok(begun)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let database = TestDatabase::from_sql("idempotency", &[SCHEMA]).await;
    println!("{:?}", place_order(database.pool(), "k-1", "tea").await?); // Fresh
    println!("{:?}", place_order(database.pool(), "k-1", "tea").await?); // Replay
    println!("{:?}", place_order(database.pool(), "k-1", "coffee").await?); // Mismatch
    Ok(())
}
