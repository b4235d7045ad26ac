//! The way into the outbox: one statement in the caller's transaction.

use serde_json::Value;
use sqlx::{PgConnection, Row, types::Json};

use crate::{Appended, Error, NewEvent};

const VERSION_CONSTRAINT: &str = "outbox_events_aggregate_version";

/// Writes `event` in the caller's transaction: it is published if, and only if, that commits.
///
/// Call [`Wake::notify`] after the commit, so that the relay need not find it by polling.
/// Services that fold their whole write into one statement call the SQL function
/// `outbox_append(…)` there instead; it is what this function calls.
///
/// [`Wake::notify`]: crate::Wake::notify
pub async fn enqueue(conn: &mut PgConnection, mut event: NewEvent) -> Result<Appended, Error> {
    if !event.payload.is_object() {
        return Err(Error::PayloadNotAnObject {
            event_type: event.event_type,
        });
    }
    let appended =
        sqlx::query("SELECT id, payload FROM outbox_append($1, $2, $3, $4, $5, $6, $7, $8)")
            .bind(event.event_id)
            .bind(&event.aggregate_type)
            .bind(&event.aggregate_id)
            .bind(event.aggregate_version)
            .bind(&event.topic)
            .bind(&event.event_type)
            .bind(&event.payload)
            .bind(Json(&event.headers))
            .fetch_one(conn)
            .await;
    match appended {
        Ok(row) => {
            event.payload = row.try_get::<Value, _>("payload")?;
            Ok(Appended {
                id: row.try_get("id")?,
                event,
            })
        }
        // The insert waited for a rival that took this version, and lost: the error *is* the
        // second look at what the rival committed.
        Err(sqlx::Error::Database(error)) if error.constraint() == Some(VERSION_CONSTRAINT) => {
            Err(Error::VersionTaken {
                aggregate_type: event.aggregate_type,
                aggregate_id: event.aggregate_id,
                aggregate_version: event.aggregate_version,
            })
        }
        Err(error) => Err(error.into()),
    }
}
