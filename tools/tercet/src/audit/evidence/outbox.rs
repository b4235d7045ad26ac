//! Events, what of them is not published yet, and the participants' command guards.

use std::time::Duration;

use sqlx::{PgConnection, Row as _, postgres::PgRow};
use uuid::Uuid;

use super::order::age;

/// One service's outbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outbox {
    /// The service.
    pub service: &'static str,
    /// By aggregate and version.
    pub events: Vec<Event>,
    /// What the broker has not acknowledged.
    pub pending: Vec<Pending>,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its id, equal to `ce_id`.
    pub event_id: Uuid,
    /// Its aggregate.
    pub aggregate_id: String,
    /// Its place among the aggregate's events.
    pub version: i64,
    /// Where it goes.
    pub topic: String,
    /// What it is.
    pub event_type: String,
    /// The command whose final outcome it is.
    pub outcome_of: Option<String>,
    /// Since it was written.
    pub age: Duration,
}

/// An event that the broker has not acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its id.
    pub event_id: Uuid,
    /// Its aggregate.
    pub aggregate_id: String,
    /// How often it was tried.
    pub attempts: i32,
    /// Whether the relay gave it to a person.
    pub is_quarantined: bool,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// Since it was written.
    pub age: Duration,
}

/// A participant's decision about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// The participant.
    pub service: &'static str,
    /// Whose command.
    pub saga_id: Uuid,
    /// Which step.
    pub step: String,
    /// `FORWARD` or `BACKWARD`.
    pub direction: String,
    /// Whether its undo overtook it: then it owes no outcome.
    pub is_undone: bool,
    /// Whether the outcome is kept.
    pub is_decided: bool,
}

pub(super) async fn load(
    connection: &mut PgConnection,
    service: &'static str,
) -> sqlx::Result<Outbox> {
    let events = sqlx::query(EVENTS).fetch_all(&mut *connection).await?;
    let pending = sqlx::query(PENDING).fetch_all(&mut *connection).await?;
    Ok(Outbox {
        service,
        events: events.iter().map(event).collect::<sqlx::Result<_>>()?,
        pending: pending
            .iter()
            .map(pending_event)
            .collect::<sqlx::Result<_>>()?,
    })
}

pub(super) async fn guards(
    connection: &mut PgConnection,
    service: &'static str,
) -> sqlx::Result<Vec<Guard>> {
    let rows = sqlx::query(GUARDS).fetch_all(connection).await?;
    rows.iter().map(|row| guard(row, service)).collect()
}

const EVENTS: &str = "
    SELECT event_id, aggregate_id, aggregate_version, topic, event_type,
           CASE WHEN headers->>'ce_outcome' = 'final' THEN headers->>'ce_commandid' END
               AS outcome_of,
           extract(epoch FROM now() - created_at)::float8 AS age_seconds
      FROM outbox_events
     ORDER BY aggregate_id, aggregate_version";

const PENDING: &str = "
    SELECT e.event_id, e.aggregate_id, p.attempts, p.last_error,
           p.quarantined_at IS NOT NULL AS is_quarantined,
           extract(epoch FROM now() - e.created_at)::float8 AS age_seconds
      FROM outbox_pending p JOIN outbox_events e ON e.id = p.id";

const GUARDS: &str = "
    SELECT saga_id, step, direction, undone, outcome IS NOT NULL AS is_decided
      FROM command_guards";

fn event(row: &PgRow) -> sqlx::Result<Event> {
    Ok(Event {
        event_id: row.try_get("event_id")?,
        aggregate_id: row.try_get("aggregate_id")?,
        version: row.try_get("aggregate_version")?,
        topic: row.try_get("topic")?,
        event_type: row.try_get("event_type")?,
        outcome_of: row.try_get("outcome_of")?,
        age: age(row)?,
    })
}

fn pending_event(row: &PgRow) -> sqlx::Result<Pending> {
    Ok(Pending {
        event_id: row.try_get("event_id")?,
        aggregate_id: row.try_get("aggregate_id")?,
        attempts: row.try_get("attempts")?,
        is_quarantined: row.try_get("is_quarantined")?,
        last_error: row.try_get("last_error")?,
        age: age(row)?,
    })
}

fn guard(row: &PgRow, service: &'static str) -> sqlx::Result<Guard> {
    Ok(Guard {
        service,
        saga_id: row.try_get("saga_id")?,
        step: row.try_get("step")?,
        direction: row.try_get("direction")?,
        is_undone: row.try_get("undone")?,
        is_decided: row.try_get("is_decided")?,
    })
}
