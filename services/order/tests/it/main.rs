//! The order service on a real PostgreSQL, over real gRPC, with participants that answer as told.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod cancel_order;
mod end_order;
mod error_pages;
mod fakes;
mod get_order;
mod list_orders;
mod list_sagas;
mod outcomes;
mod place_order;
mod rights;
mod schema;
mod service;
mod settings;
mod watch_order;
mod world;
