//! SQL, one file per table. Functions take the caller's connection: the caller owns the transaction.

mod error;
pub mod orders;
pub mod products;

pub use error::{BoxError, StoreError};
pub use orders::{PagePosition, Revision, Tracked};
