//! The outbox: what an aggregate told, and whose event an id is.

use sqlx::{PgConnection, Row as _, postgres::PgRow};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    board::Subject,
    session::{maybe_when, when},
};
use crate::why::{
    facts::{Guard, Outcome},
    id::Kind,
    storage::{Event, Outbox, Pending},
};

/// The newest of an aggregate; enough to see what holds it up.
const EVENTS: &str = "
    SELECT e.event_id, e.event_type, e.aggregate_version, e.created_at, p.id AS pending,
           p.attempts, p.last_error, p.quarantined_at, p.partition, l.owner,
           CASE WHEN isfinite(l.lease_until) THEN l.lease_until END AS lease_until,
           coalesce(r.alive_until > now(), false) AS owner_is_alive, now() AS now
      FROM (SELECT * FROM outbox_events
             WHERE aggregate_type = $1 AND aggregate_id = $2
             ORDER BY aggregate_version DESC LIMIT 40) e
      LEFT JOIN outbox_pending p ON p.id = e.id
      LEFT JOIN outbox_partitions l ON l.partition = p.partition
      LEFT JOIN outbox_relays r ON r.owner = l.owner
     ORDER BY e.aggregate_version";

/// What an aggregate told.
pub(super) async fn of_aggregate(
    connection: &mut PgConnection,
    aggregate_type: &str,
    aggregate_id: Option<Uuid>,
) -> sqlx::Result<Outbox> {
    let Some(aggregate_id) = aggregate_id else {
        return Ok(Outbox::default());
    };
    let rows = sqlx::query(EVENTS)
        .bind(aggregate_type)
        .bind(aggregate_id.to_string())
        .fetch_all(connection)
        .await?;
    let events = rows.iter().map(event).collect::<sqlx::Result<_>>()?;
    Ok(Outbox { events })
}

fn event(row: &PgRow) -> sqlx::Result<Event> {
    let is_pending = row.try_get::<Option<i64>, _>("pending")?.is_some();
    let event_type: String = row.try_get("event_type")?;
    Ok(Event {
        id: row.try_get("event_id")?,
        event_type: short(&event_type),
        version: row.try_get("aggregate_version")?,
        written: when(row, "created_at")?,
        pending: is_pending.then(|| pending(row)).transpose()?,
    })
}

fn pending(row: &PgRow) -> sqlx::Result<Pending> {
    Ok(Pending {
        attempts: row.try_get("attempts")?,
        last_error: row.try_get("last_error")?,
        quarantined: maybe_when(row, "quarantined_at")?,
        partition: row.try_get("partition")?,
        owner: row.try_get("owner")?,
        lease_until: maybe_when(row, "lease_until")?,
        owner_is_alive: row.try_get("owner_is_alive")?,
    })
}

// No index leads from an event's id to its row. But both were made at the same moment, and rows come
// in order of time: so the first row of that moment is found by halving, and a few seconds are read.
const BY_ID: &str = "
    WITH RECURSIVE search (low, high) AS (
        SELECT min(id), max(id) FROM outbox_events
        UNION ALL
        SELECT CASE WHEN probe.created_at < $2 THEN probe.id + 1 ELSE low END,
               CASE WHEN probe.created_at < $2 THEN high ELSE (low + high) / 2 END
          FROM search CROSS JOIN LATERAL (
               SELECT id, created_at FROM outbox_events
                WHERE id >= (low + high) / 2 ORDER BY id LIMIT 1) AS probe
         WHERE low < high
    )
    SELECT near.payload->>'orderId' AS order_id, near.headers->>'ce_sagaid' AS saga_id
      FROM (SELECT * FROM outbox_events
             WHERE id >= (SELECT max(low) FROM search) ORDER BY id LIMIT 50000) AS near
     WHERE near.event_id = $1 LIMIT 1";

/// Clocks of a service and of its database are closer than this.
const CLOCKS_APART_MAX: time::Duration = time::Duration::seconds(10);

/// Whose event it is, if it is one of this database.
pub(super) async fn by_id(
    connection: &mut PgConnection,
    event_id: Uuid,
) -> sqlx::Result<Option<Subject>> {
    let Some(made) = made(event_id) else {
        return Ok(None);
    };
    let row = sqlx::query(BY_ID)
        .bind(event_id)
        .bind(made - CLOCKS_APART_MAX)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let id = |text: Option<String>| text.and_then(|text| text.parse().ok());
    let order_id: Option<Uuid> = id(row.try_get("order_id")?);
    let saga_id = id(row.try_get("saga_id")?);
    Ok(order_id.map(|order_id| Subject {
        event: Some(event_id),
        saga_id,
        ..Subject::new(Kind::Event, order_id)
    }))
}

/// When an id was made: a `UUIDv7` says so.
pub(super) fn made(id: Uuid) -> Option<OffsetDateTime> {
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    let at = OffsetDateTime::from_unix_timestamp(i64::try_from(seconds).ok()?).ok()?;
    Some(at + time::Duration::nanoseconds(nanos.into()))
}

const GUARDS: &str = "
    SELECT step, direction, (outcome->>'event_id')::uuid AS event_id,
           outcome->>'event_type' AS event_type
      FROM command_guards WHERE saga_id = $1";

/// What a participant decided of a saga's commands.
pub(super) async fn guards(
    connection: &mut PgConnection,
    saga_id: Option<Uuid>,
) -> sqlx::Result<Vec<Guard>> {
    let rows = sqlx::query(GUARDS)
        .bind(saga_id)
        .fetch_all(connection)
        .await?;
    let guards = rows.iter().map(|row| {
        let event_id: Option<Uuid> = row.try_get("event_id")?;
        let event_type: Option<String> = row.try_get("event_type")?;
        Ok(Guard {
            step: row.try_get("step")?,
            direction: row.try_get("direction")?,
            outcome: event_id.zip(event_type).map(|(event_id, name)| Outcome {
                event_id,
                event_type: short(&name),
            }),
        })
    });
    guards.collect()
}

/// A type without its package.
fn short(event_type: &str) -> String {
    let name = event_type.rsplit('.').next();
    name.unwrap_or(event_type).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_when_it_was_made() {
        let id: Uuid = "01a22e25-74f5-764f-9d7f-74b1eeaa7d93".parse().unwrap();
        let made = made(id).unwrap();
        assert_eq!(made.unix_timestamp(), 0x01a2_2e25_74f5 / 1_000);
        assert_eq!(super::made(Uuid::from_u128(7)), None);
    }
}
