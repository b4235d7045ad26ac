#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod enqueue;
mod error;
mod event;
mod kafka;
mod metrics;
mod options;
mod partition;
mod pending;
mod publisher;
mod relay;
mod retention;
mod row;
mod run;
mod wake;
mod waves;

pub use enqueue::enqueue;
pub use error::Error;
pub use event::{Appended, NewEvent};
pub use kafka::KafkaPublisher;
pub use options::RelayOptions;
pub use publisher::{PublishError, Publisher, Record};
pub use relay::{Health, Pass, Relay};
pub use retention::purge;
pub use wake::Wake;

/// The tables and functions of this library, to be copied into a migration of yours.
pub const SCHEMA: &str = include_str!("../schema.sql");
