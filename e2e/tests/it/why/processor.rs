//! Trouble with the card processor, and rows that somebody holds.

use sqlx::{Connection as _, PgConnection};
use tercet_cli::stack::Part;

use crate::world::{self, World};

const SKU: &str = "E2E-WHY-CARD";

#[test]
fn a_processor_that_is_silent_broken_or_gone_and_a_lock() {
    world::run(async {
        let mut world = World::start("why-processor", |options| options).await;
        world.shop.offer(SKU, 100).await;

        let unknown = world.shop.place("pm_sim_confirm_held", &[(SKU, 1)]).await;
        let answer = world
            .why_becomes(&unknown.order_id, "OUTCOME_UNKNOWN")
            .await;
        answer.assert_says(&["asks the card processor again", "under the same key"]);

        let broken = world.shop.place("pm_sim_500_stored", &[(SKU, 1)]).await;
        let answer = world.why_becomes(&broken.order_id, "GATEWAY_ERROR").await;
        answer.assert_says(&["HTTP 500"]);

        // The saga's row, and nobody need be waiting for it just now.
        let saga = "SELECT id FROM sagas WHERE subject_id = $1::uuid FOR UPDATE";
        let url = &world.stack.databases().order.admin_url;
        let (holder, pid) = hold(url, saga, &unknown.order_id).await;
        let answer = world.why_becomes(&unknown.order_id, "LOCK_HELD").await;
        answer.assert_says(&[&format!("pid {pid}"), "of sagas in the order database"]);
        let advice = answer.advice().join("\n");
        assert!(advice.contains(&format!("pg_terminate_backend({pid})")));
        // Whoever may see other roles' sessions also sees since when, and the statement.
        let places = [("ORDER_DATABASE_URL", url.clone())];
        let (id, cause) = (&unknown.order_id, "LOCK_HELD");
        let answer = world.why_becomes_with(id, cause, &places).await;
        answer.assert_says(&["FROM sagas", "idle in transaction", "has held"]);
        holder.close().await.unwrap();

        // The stock that an order needs before it has a reservation.
        let stock = "SELECT sku FROM stock WHERE sku = $1 FOR UPDATE";
        let url = &world.stack.databases().inventory.admin_url;
        let (holder, pid) = hold(url, stock, SKU).await;
        let waiting = world.shop.place("pm_card_visa", &[(SKU, 1)]).await;
        let answer = world.why_becomes(&waiting.order_id, "LOCK_HELD").await;
        answer.assert_says(&[&format!("pid {pid}"), "of stock in the inventory database"]);
        holder.close().await.unwrap();
        world.shop.ended(&waiting.order_id).await;

        // A whole table, as a migration takes it: nothing of the order can even be read.
        let table = "LOCK TABLE orders";
        let url = &world.stack.databases().order.admin_url;
        let (holder, pid) = hold_table(url, table).await;
        let answer = world.why_becomes(&unknown.order_id, "LOCK_HELD").await;
        answer.assert_says(&[&format!("pid {pid}"), "the whole table orders"]);
        holder.close().await.unwrap();

        world.stack.kill9(Part::Gateway).await.unwrap();
        let alone = world.shop.place("pm_card_visa", &[(SKU, 1)]).await;
        world.why_becomes(&alone.order_id, "GATEWAY_DOWN").await;
        world.stack.restart(Part::Gateway).await.unwrap();

        assert!(world.shop.release(&unknown.payment_id).await);
        world.shop.cancel(&broken.order_id).await.unwrap();
        for order in [&unknown, &broken, &alone] {
            world.shop.ended(&order.order_id).await;
        }
        world.close().await;
    });
}

/// A transaction that takes a row and does nothing more; it ends with its connection.
async fn hold(url: &str, sql: &'static str, key: &str) -> (PgConnection, i32) {
    let (mut holder, pid) = begin(url).await;
    let held = sqlx::query(sql).bind(key).fetch_all(&mut holder).await;
    assert_eq!(held.unwrap().len(), 1);
    (holder, pid)
}

/// The same with a whole table.
async fn hold_table(url: &str, sql: &'static str) -> (PgConnection, i32) {
    let (mut holder, pid) = begin(url).await;
    sqlx::query(sql).execute(&mut holder).await.unwrap();
    (holder, pid)
}

async fn begin(url: &str) -> (PgConnection, i32) {
    let mut holder = PgConnection::connect(url).await.unwrap();
    sqlx::query("BEGIN").execute(&mut holder).await.unwrap();
    let pid = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(&mut holder)
        .await;
    (holder, pid.unwrap())
}
