//! The world outside of one kind of saga: who gets its commands, and what its words mean.

use std::{collections::BTreeMap, error::Error, future::Future};

use sqlx::PgConnection;
use tercet_saga::{Direction, Saga};
use uuid::Uuid;

/// Any error.
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// Carries commands, reads outcomes, and does the steps in the saga's own database.
pub trait Participants<S: Saga>: Send + Sync + 'static {
    /// Sends one command. Called after the commit that saved it, never inside a transaction. May be
    /// called again for the same command. Give the call a deadline of its own: after
    /// [`send_timeout`](crate::EngineOptions::send_timeout) it is dropped and counts as one without an
    /// ack.
    fn send(
        &self,
        command: Outgoing<S::Command>,
    ) -> impl Future<Output = Result<Ack, SendError>> + Send;

    /// What an outcome says.
    ///
    /// # Errors
    /// It can never be read: the message is set aside.
    fn read(&self, outcome: &OutcomeEvent) -> Result<S::Reply, ReadError>;

    /// Does a local step inside the transaction that saves the transition. The saga's row is locked.
    fn run_local(
        &self,
        conn: &mut PgConnection,
        saga: &SagaRef,
        data: &S::Data,
        local: S::Local,
    ) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// Called after a transaction with a local step has committed, for example to wake a relay.
    /// Losing the call must be harmless.
    fn committed(&self) {}
}

/// Which saga a local step belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SagaRef {
    /// The saga.
    pub saga_id: Uuid,
    /// What it is about.
    pub subject_id: Uuid,
    /// Where its trace goes on from.
    pub traceparent: Option<String>,
}

/// A command on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing<C> {
    /// The saga that sends it.
    pub saga_id: Uuid,
    /// What the saga is about.
    pub subject_id: Uuid,
    /// The idempotency key: the same for every send of this command.
    pub command_id: String,
    /// The step.
    pub step: &'static str,
    /// Whether the step is done or undone.
    pub direction: Direction,
    /// The epoch it is sent under.
    pub epoch: i64,
    /// Where the saga's trace goes on from.
    pub traceparent: Option<String>,
    /// What to do.
    pub command: C,
}

/// A participant's event about a command: from a topic, or kept beside the guard and sent with an
/// ack. Whichever way it comes first, it counts once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeEvent {
    /// The event's identity.
    pub event_id: Uuid,
    /// What the payload is.
    pub event_type: String,
    /// The saga it names.
    pub saga_id: Uuid,
    /// The command it names itself, never the one that happened to be sent.
    pub command_id: String,
    /// The event's body.
    pub payload: Vec<u8>,
    /// The event's own headers.
    pub headers: BTreeMap<String, String>,
}

/// A participant's answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ack {
    /// Taken for the first time. The outcome comes.
    Accepted,
    /// Taken before and still open.
    InProgress,
    /// Decided before: this is the outcome.
    Decided(OutcomeEvent),
}

/// A send that ended without an ack. None of them proves that the command did not arrive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Send again.
    #[error("no ack: {0}")]
    NoAck(String),
    /// There was no connection. Send again soon; not counted.
    #[error("cannot connect: {0}")]
    CannotConnect(String),
    /// Sending again will not change the answer.
    #[error("rejected: {0}")]
    Rejected(String),
    /// The participant knows a higher epoch of this saga.
    #[error("stale epoch: the participant knows {highest}")]
    StaleEpoch {
        /// It.
        highest: i64,
    },
    /// The step was undone before this forward command came.
    #[error("the step was undone already")]
    AlreadyUndone,
}

/// An outcome that can never be read.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct ReadError {
    /// What is wrong with it.
    pub what: String,
    /// Why.
    #[source]
    pub source: Option<BoxError>,
}
