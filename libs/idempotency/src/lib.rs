//! Idempotency keys: one effect and one answer for a call that is sent more than once.
//!
//! The key is claimed in the transaction of the work and answered in it too, so a crash leaves
//! either both or neither. [`begin`] claims, [`complete`] answers.
#![warn(missing_docs)]

mod claim;
mod error;
mod fingerprint;
mod key;

pub use claim::{Begin, Claim, begin, complete};
pub use error::Error;
pub use fingerprint::{Fingerprint, RequestHash};
pub use key::{Key, KeyError};

/// The table of this library, to be copied into a migration of yours.
pub const SCHEMA: &str = include_str!("../schema.sql");
