//! The simulator over real HTTP, with real books on disk.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed assumption fails the test"
)]

mod client;
mod confirm;
mod keys;
mod refunds;
