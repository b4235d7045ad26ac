//! The engine on real PostgreSQL, with participants that do as the test says.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a panic is how a test fails"
)]

mod cancel;
mod epochs;
mod isolation;
mod outcomes;
mod shutdown;
mod support;
mod timers;
mod trip;
