//! The consumer: reads topics and hands each message to a [`Handler`] until it took effect.
//!
//! A thread polls Kafka and does nothing else. Each partition has a task, which handles messages of
//! different lanes at once and those of one lane in order. An offset is committed only after the
//! handler's own commit. Whatever goes wrong is tried again and holds the partition, unless the
//! handler says that the message can never take effect: then it is parked, whole, as a dead letter.
//!
//! Owning a partition is a hint. Two processes may handle one message at once, an offset may go
//! back: that an effect happens once is the inbox row's doing, in the handler's transaction.

mod assignment;
mod handler;
mod options;
mod poll;
mod run;
mod watchdog;
mod worker;

pub use handler::{BoxError, HandleError, Handled, Handler};
pub use options::ConsumerOptions;
pub use run::{Consumer, Health};
