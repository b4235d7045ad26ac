//! What a service does with a message.

use std::{error::Error, future::Future};

use crate::Envelope;

/// Any error.
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// Gives messages their effect.
pub trait Handler: Send + Sync + 'static {
    /// Gives `envelope` its effect, and returns when that is committed. May be called again for the
    /// same message at any time, also by two processes at once: write the message's id with
    /// [`record`](crate::record) in the transaction of the effect.
    fn handle(
        &self,
        envelope: Envelope,
    ) -> impl Future<Output = Result<Handled, HandleError>> + Send;
}

/// What came of a message. Either way its offset may move on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Handled {
    /// It took effect now, or had done so before.
    Done,
    /// It is none of this consumer's business.
    Skipped,
}

/// Why a message had no effect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// It may have one later. The partition is held and the message tried again, for as long as it
    /// takes: use this for everything that is not certainly [`Poison`](Self::Poison).
    #[error("the message could not be handled")]
    Transient(#[source] BoxError),
    /// It can never have one: it cannot be decoded, breaks a constraint on data, or names what cannot
    /// exist. It is parked, and its partition goes on.
    #[error("the message can never be handled")]
    Poison(#[source] BoxError),
}
