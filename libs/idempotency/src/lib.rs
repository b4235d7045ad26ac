#![doc = include_str!("../README.md")]
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
