//! Why a use case has no answer: facts, which `grpc/status.rs` puts into words for callers.

use tercet_service_kit::{Aborted, database};

use crate::{
    domain::{OrderId, Violation},
    store::{BoxError, StoreError},
};

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the request has bad fields")]
    Invalid(Vec<Violation>),
    #[error("there is no order {0}")]
    OrderNotFound(OrderId),
    #[error("there is no saga {0}")]
    SagaNotFound(uuid::Uuid),
    #[error("the idempotency key was used for another request")]
    KeyReused,
    #[error("another call with this idempotency key is at work")]
    KeyInFlight,
    /// The stock is being committed: whether the order can be cancelled is known in a moment.
    #[error("order {0} is being confirmed")]
    Confirming(OrderId),
    #[error("order {0} is confirmed")]
    NotCancellable(OrderId),
    #[error("too many streams are open")]
    TooManyWatchers,
    /// The stream's time is over, or the process ends; the order has not ended.
    #[error("the stream ended before the order")]
    WatchInterrupted,
    /// The same call may succeed later, unchanged.
    #[error("not now")]
    Unavailable(#[source] BoxError),
    /// A fault of ours.
    #[error("internal error")]
    Internal(#[source] BoxError),
}

impl Error {
    fn of(error: impl Into<BoxError>, transient: bool) -> Self {
        if transient {
            Self::Unavailable(error.into())
        } else {
            Self::Internal(error.into())
        }
    }

    /// The same call may succeed later, unchanged.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::KeyInFlight
                | Self::Confirming(_)
                | Self::TooManyWatchers
                | Self::WatchInterrupted
                | Self::Unavailable(_)
        )
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let transient = database::is_transient(&error);
        Self::of(error, transient)
    }
}

/// Errors that know for themselves whether they pass.
macro_rules! from {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                let transient = error.is_transient();
                Self::of(error, transient)
            }
        })+
    };
}

from!(
    StoreError,
    Aborted,
    tercet_idempotency::Error,
    tercet_outbox::Error,
    tercet_saga_postgres::Error,
);

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.into())
    }
}
