//! The payment service on a real PostgreSQL and against the real gateway-sim; as a process on a real
//! Kafka where it is killed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod advance_payment;
mod charge_payment;
mod crash_points;
mod gateway;
mod guard;
mod list_payments;
mod refund_payment;
mod schema;
mod sim;
mod startup;
mod world;
