//! What a resource is and may become. No IO, no clock.

mod intent;
mod refund;

pub(crate) use intent::{Charge, Decline, Intent, IntentStatus};
pub(crate) use refund::{Refund, RefundStatus};
