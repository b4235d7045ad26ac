//! How an order ends: steps of its saga, done inside the transaction of the transition. State and
//! event are one commit with the saga's end.

use sqlx::PgConnection;
use tercet_outbox::enqueue;

use super::Error;
use crate::{
    domain::{CancelReason, OrderId},
    messaging::events,
    store::orders,
};

/// PENDING becomes CONFIRMED: paid, and its stock is sold.
pub async fn confirm(conn: &mut PgConnection, id: OrderId, topic: &str) -> Result<(), Error> {
    let order = orders::confirm(conn, id).await?;
    enqueue(conn, events::confirmed(&order, topic)?).await?;
    Ok(())
}

/// PENDING becomes CANCELLED: nothing is held and nothing was kept.
pub async fn cancel(
    conn: &mut PgConnection,
    id: OrderId,
    reason: &CancelReason,
    topic: &str,
) -> Result<(), Error> {
    let order = orders::cancel(conn, id, reason).await?;
    enqueue(conn, events::cancelled(&order, reason, topic)?).await?;
    Ok(())
}
