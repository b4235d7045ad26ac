//! The saga of an order, and the world it acts on.

mod acks;
mod commands;
mod participants;
pub mod place_order;
pub mod replies;

pub use participants::{Deadlines, Services};

/// The engine that drives the sagas of this service's database.
pub type Engine = tercet_saga_postgres::Engine<place_order::PlaceOrder, Services>;
