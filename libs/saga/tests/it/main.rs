//! Sagas as conversations: every rule of the engine, without a broker, a database or a clock.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code: a failed expectation is a panic"
)]

mod cancel;
mod definition;
mod endings;
mod epochs;
mod interleavings;
mod trip;
mod waits;
