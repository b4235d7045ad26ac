//! Why a use case has no answer. An out-of-stock or expired hold is none of these: it is an outcome.

use tercet_service_kit::Aborted;

use crate::{
    domain::{ReservationId, Sku, StockLevel, WrongState},
    store::StoreError,
};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the work was aborted")]
    Aborted(#[from] Aborted),
    /// The undo of this step was here before.
    #[error("the step was undone before")]
    AlreadyUndone,
    /// The sender lost its saga to one with a higher epoch.
    #[error("the saga is known under epoch {highest}")]
    StaleEpoch { highest: i64 },
    /// The guard was taken and nothing was decided, which no code of ours leaves behind.
    #[error("the command's guard has no outcome")]
    Undecided,
    #[error("there is no reservation {0}")]
    ReservationNotFound(ReservationId),
    #[error(transparent)]
    WrongState(#[from] WrongState),
    #[error("there is no stock of {0}")]
    StockNotFound(Sku),
    #[error("of {} on hand {} are promised: fewer cannot be left", .0.on_hand, .0.reserved)]
    BelowReserved(StockLevel),
    #[error("the adjustment id was used for another change")]
    AdjustmentReused,
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        StoreError::from(error).into()
    }
}

impl From<tercet_inbox::Error> for Error {
    fn from(error: tercet_inbox::Error) -> Self {
        StoreError::from(error).into()
    }
}

impl Error {
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Aborted(_) => true,
            _ => false,
        }
    }
}
