//! What can go wrong between this service and its tables.

use std::error::Error;

use tercet_service_kit::database;

use crate::domain::{OrderId, OrderState};

/// Any error.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why a statement did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused or could not be asked.
    #[error("the orders' database failed")]
    Database(#[from] sqlx::Error),
    /// A row holds what this program cannot read. Nothing is guessed.
    #[error("{table} {id} cannot be read")]
    Corrupt {
        table: &'static str,
        id: String,
        #[source]
        source: BoxError,
    },
    /// The order is not in the state that the change starts from.
    #[error("order {id} is {state:?}, so it cannot become {wanted:?}")]
    WrongState {
        id: OrderId,
        /// None: there is no such order.
        state: Option<OrderState>,
        wanted: OrderState,
    },
}

impl StoreError {
    /// The same work may succeed later, unchanged.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => database::is_transient(error),
            Self::Corrupt { .. } | Self::WrongState { .. } => false,
        }
    }
}
