//! A message's id, written in the transaction of its effect.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// What [`record`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The row was written: do the effect in this transaction.
    First,
    /// Another transaction wrote it and has committed: do nothing.
    Duplicate,
}

/// Writes that `consumer` judges `message_id` in the caller's transaction. Call it before the effect.
///
/// If a rival holds the same row uncommitted, this waits for it: a rival that commits makes this a
/// [`Seen::Duplicate`], one that rolls back makes it [`Seen::First`]. Either way the caller's *next*
/// statement sees what the rival committed; this one does not, so it reads nothing.
pub async fn record(
    conn: &mut PgConnection,
    consumer: &str,
    message_id: Uuid,
) -> Result<Seen, Error> {
    let inserted = sqlx::query(
        "INSERT INTO inbox_messages (consumer, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    )
    .bind(consumer)
    .bind(message_id)
    .execute(conn)
    .await?
    .rows_affected();
    Ok(if inserted == 1 {
        Seen::First
    } else {
        Seen::Duplicate
    })
}
