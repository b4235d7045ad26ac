//! Orders: what is sold, the orders themselves, and the saga that drives each of them.
//!
//! Follow one order: `grpc/server.rs` → `grpc/convert.rs` → `app/place_order.rs` (key, order, saga and
//! event in one commit) → `saga/place_order.rs` (the steps) → `saga/participants.rs` (commands to
//! inventory and payment) → `messaging/consumer.rs` (their outcomes) → the next step …
//! → `app/end_order.rs`.
//!
//! The rules: a client never sends a price; ids of everything a step creates are chosen and saved
//! before the step is asked for; whatever a call changes is one commit with its idempotency key.

pub mod app;
pub mod domain;
pub mod grpc;
pub mod messaging;
pub mod saga;
pub mod settings;
mod startup;
pub mod store;

pub use settings::Settings;
pub use startup::{Application, StartError, build};

/// The schema of this service's database.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations/order");
