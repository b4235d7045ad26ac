//! Which command of which saga a payment owes an outcome.

use uuid::Uuid;

/// A command that was admitted; kept with the payment until it is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRef {
    pub saga_id: Uuid,
    /// For example `charge-payment`.
    pub step: String,
    /// `{saga_id}:{step}:{forward|backward}`.
    pub command_id: String,
}
