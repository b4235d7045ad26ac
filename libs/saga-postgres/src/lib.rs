#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod admin;
mod engine;
mod error;
mod feed;
mod options;
mod participants;
mod row;
mod sender;
mod store;
mod timers;
mod worker;

pub use engine::{Engine, FollowUp};
pub use error::Error;
pub use feed::Fed;
pub use options::EngineOptions;
pub use participants::{
    Ack, BoxError, OutcomeEvent, Outgoing, Participants, ReadError, SagaRef, SendError,
};

/// The tables, for a migration of your own.
pub const SCHEMA: &str = include_str!("../schema.sql");
