//! SQL, as functions over the caller's connection: the use case owns the transaction.

pub mod outbox;
pub mod reservations;
pub mod stock;

use crate::domain::ReservationId;

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
    /// Another command has made a reservation of this id.
    #[error("there is a reservation {id} already")]
    ReservationExists { id: ReservationId },
    /// A row holds what this program cannot have written.
    #[error("{table} has a row that cannot be read: {what}")]
    Corrupt { table: &'static str, what: String },
    /// Two statements of one transaction disagree: nothing of it may be committed.
    #[error("reservation {id}: {what}")]
    Inconsistent {
        id: ReservationId,
        what: &'static str,
    },
}

impl StoreError {
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => tercet_service_kit::database::is_transient(error),
            Self::Guard(error) => error.is_transient(),
            Self::Outbox(error) => error.is_transient(),
            Self::Event(_)
            | Self::ReservationExists { .. }
            | Self::Corrupt { .. }
            | Self::Inconsistent { .. } => false,
        }
    }
}
