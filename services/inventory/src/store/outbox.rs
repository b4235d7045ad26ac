//! Events of reservations, and the outcomes kept beside the command guards.

use sqlx::PgConnection;
use tercet_inbox::guard::{CommandKey, Direction, KeptOutcome, keep_outcome};
use tercet_outbox::{Appended, enqueue};

use crate::{domain::ReservationEvent, messaging::events, store::StoreError};

/// Writes the outcome of `command`: into the outbox, and as a copy beside its guard.
pub async fn decide(
    conn: &mut PgConnection,
    topic: &str,
    event: &ReservationEvent,
    command: &CommandKey,
    direction: Direction,
) -> Result<(), StoreError> {
    let event = events::outcome(topic, event, command)?;
    let Appended { event, .. } = enqueue(conn, event).await?;
    tracing::info!(
        tercet.message.id = %event.event_id,
        event_type = event.event_type,
        "decided"
    );
    let kept = KeptOutcome {
        event_id: event.event_id,
        event_type: event.event_type,
        payload: event.payload,
        headers: event.headers,
    };
    keep_outcome(conn, command.saga_id, &command.step, direction, &kept).await?;
    Ok(())
}

/// Writes an event that nobody asked for.
pub async fn tell(
    conn: &mut PgConnection,
    topic: &str,
    event: &ReservationEvent,
) -> Result<(), StoreError> {
    enqueue(conn, events::fact(topic, event)?).await?;
    Ok(())
}
