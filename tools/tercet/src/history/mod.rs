//! The timeline of one order, read from where each service wrote it down: the saga's log, the three
//! outboxes, and the payment service's journal of calls to the card processor.
//!
//! All of a stack's databases are on one server, so their times can be compared. Where they are not,
//! the order of moments of different services is only as good as the servers' clocks.

mod events;
mod gateway_calls;
mod saga_log;

use anyhow::Context as _;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use crate::{
    stack::Databases,
    timeline::{Moment, Timeline, Who},
};

/// Everything that was written down about `order_id`.
pub async fn of_order(databases: &Databases, order_id: Uuid) -> anyhow::Result<Timeline> {
    let mut moments = of_service(&databases.order.admin_url, order_id, Who::Order).await?;
    moments.extend(of_service(&databases.inventory.admin_url, order_id, Who::Inventory).await?);
    moments.extend(of_service(&databases.payment.admin_url, order_id, Who::Payment).await?);
    Ok(Timeline::new(moments))
}

async fn of_service(url: &str, order_id: Uuid, who: Who) -> anyhow::Result<Vec<Moment>> {
    let mut connection = PgConnection::connect(url)
        .await
        .context("cannot read the history")?;
    let mut moments = events::read(&mut connection, order_id, who).await?;
    match who {
        Who::Order => moments.extend(saga_log::read(&mut connection, order_id).await?),
        Who::Payment => moments.extend(gateway_calls::read(&mut connection, order_id).await?),
        Who::Client | Who::Saga | Who::Inventory | Who::Gateway => {}
    }
    connection.close().await?;
    Ok(moments)
}
