#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod definition;
mod effect;
mod error;
mod inputs;
mod instance;
pub mod recovery;
mod retry;
mod rules;
#[cfg(feature = "testing")]
pub mod testing;
mod transition;
mod walk;
mod words;

pub use definition::{Class, Definition, DefinitionId, Notice, Saga, Step, Verdict};
pub use effect::{Effect, Entry, LogEntry, SendCommand};
pub use error::{DefinitionError, Unrunnable};
pub use instance::{Direction, Failure, Instance, Status, Wait, command_id};
pub use retry::{Jitter, Timing};
pub use transition::{
    COMMAND_REJECTED, Input, Judgement, NO_ACK, OUTCOME_PENDING, RESTORED, SendFailure, TIME_IS_UP,
    Transition, advance, start,
};
pub use words::UnknownWord;
