//! The outbox on a real PostgreSQL, and on a real Kafka where the broker's word counts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod enqueue;
mod held;
mod kafka;
mod killed;
mod leases;
mod passes;
mod retention;
mod support;
mod version;
