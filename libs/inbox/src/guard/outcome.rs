//! The outcome of a command, kept beside its guard for as long as the aggregate lives.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::Direction;
use crate::Error;

/// A full copy of the outcome event, not a reference: the outbox is purged, the guard is not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptOutcome {
    /// The event's id, the same as on the topic: whichever way it arrives first, it counts once.
    pub event_id: Uuid,
    /// What the payload is.
    pub event_type: String,
    /// The event's body as it was published.
    pub payload: Value,
    /// The event's own headers, the saga's and the command's ids among them.
    pub headers: BTreeMap<String, String>,
}

/// Keeps the outcome of an admitted command, in the transaction that decides it.
///
/// A decided command is never decided again: a second outcome is [`Error::NotOpen`], and the
/// caller's transaction must not commit.
pub async fn keep_outcome(
    conn: &mut PgConnection,
    saga_id: Uuid,
    step: &str,
    direction: Direction,
    outcome: &KeptOutcome,
) -> Result<(), Error> {
    let updated = sqlx::query(
        "UPDATE command_guards SET outcome = $4
          WHERE saga_id = $1 AND step = $2 AND direction = $3 AND outcome IS NULL",
    )
    .bind(saga_id)
    .bind(step)
    .bind(direction.as_str())
    .bind(Json(outcome))
    .execute(conn)
    .await?
    .rows_affected();
    if updated == 1 {
        Ok(())
    } else {
        Err(Error::NotOpen {
            saga_id,
            step: step.to_owned(),
            direction: direction.as_str(),
        })
    }
}

pub(super) fn parse(kept: Value, command_id: &str) -> Result<KeptOutcome, Error> {
    serde_json::from_value(kept).map_err(|source| Error::CorruptOutcome {
        command_id: command_id.to_owned(),
        source,
    })
}
