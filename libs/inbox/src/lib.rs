//! Once-only effects from at-least-once messages.
//!
//! - [`record`]: a message's id in the transaction of its effect makes the effect happen once.
//! - [`guard`]: the same for the commands of a saga, which keep their outcome and can be undone.
//! - [`Consumer`]: reads topics and hands each message, an [`Envelope`], to a [`Handler`].
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

pub use consumer::{BoxError, Consumer, ConsumerOptions, HandleError, Handled, Handler, Health};
pub use dedupe::{Seen, record};
pub use envelope::Envelope;
pub use error::Error;
pub use retention::purge;

/// The tables of the inbox and its dead letters, to be copied into a migration of yours.
pub const INBOX_SCHEMA: &str = include_str!("../schema/inbox.sql");
/// The table of the command guard, to be copied into a migration of yours.
pub const GUARD_SCHEMA: &str = include_str!("../schema/guard.sql");
