//! The inbox, the guard and the consumer on a real PostgreSQL and a real Kafka.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod consumer;
mod guard;
mod killed;
mod record;
mod support;
mod topics;
mod undo;
