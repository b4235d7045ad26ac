//! The inventory service: stock, and the holds on it.
//!
//! | Rule | Where it is kept |
//! |---|---|
//! | a basket is held whole or not at all; nothing is oversold | `store/reservations.rs`, one statement, and a CHECK beneath it |
//! | a command is decided once, and asking again gets the outcome | the guard of `tercet-inbox`, first thing in each command of `app/` |
//! | an undo closes the door on a command that comes late | `app/release_reservation.rs` |
//! | both columns of `stock` equal the journal | each statement that moves stock writes it |
//! | an outcome is published if and only if it happened | `store/outbox.rs`, in the same transaction |
//!
//! Files, as a command runs through them: `grpc/server` → `grpc/convert` → `app/<verb_noun>` →
//! `domain` → `store` → `messaging/events` → the outbox's relay.

mod app;
pub mod domain;
mod grpc;
mod messaging;
pub mod settings;
pub mod startup;
mod store;

pub use app::{Ack, App, Error, ReserveStock};
