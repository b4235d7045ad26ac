//! Events out, by the outbox; outcomes in, by the inbox.

mod consumer;
pub mod events;
mod topics;

pub use consumer::Outcomes;
pub use topics::Topics;
