//! Idempotency keys: one effect and one answer for a call that is sent more than once.
//!
//! The key is claimed in the transaction of the work and answered in it too, so a crash leaves
//! either both or neither. [`begin`] claims, [`complete`] answers; [`SingleFlight`] keeps a crowd of
//! equal calls from taking a connection each.
#![warn(missing_docs)]

mod claim;
mod error;
mod fingerprint;
mod key;
mod purge;
mod single_flight;

pub use claim::{Begin, Claim, begin, complete};
pub use error::Error;
pub use fingerprint::{Fingerprint, RequestHash};
pub use key::{Key, KeyError};
pub use purge::purge;
pub use single_flight::{Flight, SingleFlight};

/// The table of this library, to be copied into a migration of yours.
pub const SCHEMA: &str = include_str!("../schema.sql");
