//! Why a use case has no answer. A declined card is none of these: it is an outcome.

use tercet_service_kit::Aborted;

use crate::{domain::PaymentId, store::StoreError};

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
    #[error("there is no payment {0}")]
    PaymentNotFound(PaymentId),
    /// Another saga's undo is being done; when that has ended, this one can be answered.
    #[error("another refund of payment {0} is being done")]
    RefundInProgress(PaymentId),
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
            Self::Aborted(_) | Self::RefundInProgress(_) => true,
            Self::AlreadyUndone | Self::StaleEpoch { .. } | Self::PaymentNotFound(_) => false,
        }
    }
}
