//! Real PostgreSQL and real Kafka for tests: nothing is simulated that a promise rests on.
//!
//! `testbed exec -- cargo test` finds the backends once, tells the tests their addresses by
//! [`postgres::SERVER_VARIABLE`] and [`kafka::BROKERS_VARIABLE`], and ends what it started. Inside a
//! test, [`postgres::TestDatabase`] is a database of one's own, [`kafka`] makes and reads topics,
//! [`process::Process`] runs a service that can be killed, and [`eventually`] waits for a condition
//! instead of sleeping.
//!
//! Helpers called from tests panic, like the assertions they are; what starts programs
//! ([`local`], [`process`]) returns errors, because the demo uses it too.

#![warn(missing_docs)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "test support: a panic is how it reports a failed expectation"
)]

pub mod backends;
mod eventually;
pub mod exec;
pub mod kafka;
pub mod local;
pub mod postgres;
pub mod process;

pub use eventually::eventually;
