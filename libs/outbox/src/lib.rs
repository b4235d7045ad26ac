//! Events in your transaction, published at least once and in order per aggregate.
#![doc = ""]
//! The change and the event that tells of it are one commit: [`enqueue`] writes into *your*
//! transaction. The [`Relay`] publishes what was committed and forgets it only when the broker has
//! acknowledged it.
#![warn(missing_docs)]

mod enqueue;
mod error;
mod event;

pub use enqueue::enqueue;
pub use error::Error;
pub use event::{Appended, NewEvent};

/// The tables and functions of this library, to be copied into a migration of yours.
pub const SCHEMA: &str = include_str!("../schema.sql");
