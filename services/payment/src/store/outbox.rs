//! Events of payments, and the outcomes kept beside the command guards.

use sqlx::PgConnection;
use tercet_inbox::guard::{Direction, KeptOutcome, keep_outcome};
use tercet_outbox::{Appended, enqueue};

use crate::{
    domain::{Answers, CommandRef, PaymentEvent},
    messaging::events,
    store::StoreError,
};

/// The commands that a payment's events answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Commands<'a> {
    pub charge: Option<&'a CommandRef>,
    pub undo: Option<&'a CommandRef>,
}

/// Writes an event: into the outbox, and, if it decides a command, as a copy beside its guard.
pub async fn tell(
    conn: &mut PgConnection,
    topic: &str,
    event: &PaymentEvent,
    commands: Commands<'_>,
) -> Result<(), StoreError> {
    let (command, decides) = match event.fact.answers() {
        Answers::Charge => (commands.charge, Some(Direction::Forward)),
        Answers::Undo => (commands.undo, Some(Direction::Backward)),
        Answers::UndoMeanwhile => (commands.undo, None),
    };
    let command = command.ok_or(StoreError::NoCommand(event.payment_id))?;
    let message = events::outcome(topic, event, command)?;
    let Appended { event, .. } = enqueue(conn, message).await?;
    let Some(direction) = decides else {
        return Ok(());
    };
    let kept = KeptOutcome {
        event_id: event.event_id,
        event_type: event.event_type,
        payload: event.payload,
        headers: event.headers,
    };
    keep_outcome(conn, command.saga_id, &command.step, direction, &kept).await?;
    Ok(())
}
