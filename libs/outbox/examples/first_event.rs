//! An event from its transaction to a publisher that prints. `testbed exec -- cargo run --example first_event -p tercet-outbox`
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::{collections::BTreeMap, time::Duration};

use tercet_outbox::{
    NewEvent, PublishError, Publisher, Record, Relay, RelayOptions, SCHEMA, enqueue,
};
use tercet_testbed::postgres::TestDatabase;

struct Print;

impl Publisher for Print {
    async fn publish(&self, record: Record) -> Result<(), PublishError> {
        let body = String::from_utf8_lossy(&record.payload).into_owned();
        println!(
            "{} {} {:#?}\n{body}",
            record.topic, record.key, record.headers
        );
        Ok(())
    }
    async fn rebuild(&self) -> Result<(), PublishError> {
        Ok(())
    }
    fn delivery_timeout(&self) -> Duration {
        Duration::from_secs(1)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let database = TestDatabase::from_sql("outbox", &[SCHEMA]).await;
    let mut tx = database.pool().begin().await?;
    let event = NewEvent {
        event_id: uuid::Uuid::now_v7(),
        aggregate_type: "order".into(),
        aggregate_id: "order-7".into(),
        aggregate_version: 1,
        topic: "shop.order.events.v1".into(),
        event_type: "shop.events.v1.OrderPlaced".into(),
        payload: serde_json::json!({ "orderId": "order-7" }),
        headers: BTreeMap::new(),
    };
    enqueue(&mut tx, event).await?;
    tx.commit().await?; // before this, no relay sees it

    let options = RelayOptions::new("example", "//shop/order");
    let (mut relay, _wake) = Relay::new(database.pool(), Print, options)?;
    println!("{:?}", relay.one_pass().await?);
    Ok(())
}
