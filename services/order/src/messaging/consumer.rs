//! Outcomes in: topic → inbox → saga engine.
//!
//! At least once from Kafka; the inbox row in the transition's own transaction makes it once.

use tercet_inbox::{BoxError, Envelope, HandleError, Handled, Handler};
use tercet_saga_postgres::{Error, Fed, OutcomeEvent};
use tercet_telemetry::propagation;
use tracing::Instrument as _;

use crate::saga::{Engine, replies};

/// Gives each outcome on the topics to the saga that waits for it.
#[derive(Clone, Debug)]
pub struct Outcomes {
    engine: Engine,
}

/// The message can never have an effect.
#[derive(Debug, thiserror::Error)]
enum Poison {
    #[error("an outcome without a UUID as ce_id")]
    NoId,
    #[error("an outcome of a saga that does not exist: {0}")]
    UnknownSaga(uuid::Uuid),
}

impl Outcomes {
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    async fn give(&self, outcome: OutcomeEvent) -> Result<Handled, HandleError> {
        let saga_id = outcome.saga_id;
        match self.engine.outcome(outcome).await {
            // Unrunnable: no inbox row was written, and the saga's next ask brings the outcome
            // again. The offset moves on, so that one bad row does not hold the others.
            Ok(Fed::Obeyed | Fed::Duplicate | Fed::Late | Fed::Unrunnable) => Ok(Handled::Done),
            Ok(Fed::UnknownSaga) => Err(poison(Poison::UnknownSaga(saga_id))),
            Ok(other) => Err(HandleError::Transient(
                format!("the engine answered {other:?}, which this version does not know").into(),
            )),
            Err(error @ Error::Unreadable { .. }) => Err(poison(error)),
            Err(error) => Err(HandleError::Transient(error.into())),
        }
    }
}

impl Handler for Outcomes {
    async fn handle(&self, envelope: Envelope) -> Result<Handled, HandleError> {
        // Events that answer no command, and types that nobody here asks for, are none of our
        // business; the inbox counts them as skipped.
        let (Some(saga_id), Some(command_id)) = (envelope.saga_id(), envelope.command_id()) else {
            return Ok(Handled::Skipped);
        };
        let Some(event_type) = envelope.ce_type().filter(|name| replies::is_known(name)) else {
            return Ok(Handled::Skipped);
        };
        let Some(event_id) = envelope.ce_id() else {
            return Err(poison(Poison::NoId));
        };
        let span = tracing::info_span!(
            "process",
            otel.name = format!("process {}", envelope.topic),
            otel.kind = "consumer",
            messaging.system = "kafka",
            messaging.destination.name = envelope.topic,
            tercet.message.id = %event_id,
            tercet.saga.id = %saga_id,
            tercet.command.id = command_id,
        );
        propagation::set_parent(&span, &envelope.headers);
        let outcome = OutcomeEvent {
            event_id,
            event_type: event_type.to_owned(),
            saga_id,
            command_id: command_id.to_owned(),
            payload: envelope.payload,
            headers: envelope.headers,
        };
        self.give(outcome).instrument(span).await
    }
}

fn poison(error: impl Into<BoxError>) -> HandleError {
    HandleError::Poison(error.into())
}
