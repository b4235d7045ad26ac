//! The inventory service on a real PostgreSQL, as its restricted role, and on a real Kafka.
//!
//! One file per use case. Every test ends by taking stock: whatever was tried, the columns equal the
//! journal, the holds, and the events.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod adjust_stock;
mod commit_reservation;
mod crowd;
mod expire_reservations;
mod list_stock;
mod release_reservation;
mod reserve_stock;
mod roles;
mod schema;
mod seed_demo;
mod startup;
mod support;
