//! SQL, as functions over the caller's connection: the use case owns the transaction.

pub mod gateway_attempts;
pub mod outbox;
pub mod payments;
pub mod refunds;

use crate::domain::{PaymentId, Status};

/// What the database could not do. Transient unless it is a data error.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
    #[error("the command guard failed")]
    Guard(#[from] tercet_inbox::Error),
    #[error("the event could not be written")]
    Outbox(#[from] tercet_outbox::Error),
    #[error("the event cannot be rendered")]
    Event(#[from] serde_json::Error),
    /// A row holds what this program cannot have written.
    #[error("{table} has a row that cannot be read: {what}")]
    Corrupt { table: &'static str, what: String },
    /// A payment with this id was charged for another saga.
    #[error("payment {0} exists")]
    PaymentExists(PaymentId),
    /// The guarded update hit nothing: nothing of the transaction may be committed.
    #[error("payment {id} is not {from} any more")]
    StatusChanged { id: PaymentId, from: Status },
    /// A refund is being done without a row that says so.
    #[error("payment {0} has no open refund")]
    NoOpenRefund(PaymentId),
    /// An outcome without a command that it answers.
    #[error("payment {0} owes no such outcome")]
    NoCommand(PaymentId),
}

impl StoreError {
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => tercet_service_kit::database::is_transient(error),
            Self::Guard(_) | Self::Outbox(_) | Self::StatusChanged { .. } => true,
            Self::Event(_)
            | Self::Corrupt { .. }
            | Self::PaymentExists(_)
            | Self::NoOpenRefund(_)
            | Self::NoCommand(_) => false,
        }
    }
}
