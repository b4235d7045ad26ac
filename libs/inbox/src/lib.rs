#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod attempts;
mod consumer;
mod dead_letter;
mod dedupe;
mod envelope;
mod error;
pub mod guard;
mod metrics;
mod retention;
mod retention_check;

pub use consumer::{BoxError, Consumer, ConsumerOptions, HandleError, Handled, Handler, Health};
pub use dedupe::{Seen, record};
pub use envelope::Envelope;
pub use error::Error;
pub use retention::purge;
pub use retention_check::check_retention;

/// The tables of the inbox and its dead letters, to be copied into a migration of yours.
pub const INBOX_SCHEMA: &str = include_str!("../schema/inbox.sql");
/// The table of the command guard, to be copied into a migration of yours.
pub const GUARD_SCHEMA: &str = include_str!("../schema/guard.sql");
