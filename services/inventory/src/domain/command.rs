//! Who sends a command, and under which key it is decided once.

use crate::domain::SagaId;

/// Whether a command does a step or undoes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

impl Direction {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
        }
    }
}

/// The saga's side of a command. Its direction is not in here: each command has exactly one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandContext {
    pub saga_id: SagaId,
    /// For example `reserve-stock`.
    pub step: String,
    /// `{saga_id}:{step}:{forward|backward}`.
    pub command_id: String,
    /// Raised when somebody else took the saga over.
    pub epoch: i64,
}

impl CommandContext {
    /// The id that a command of this saga, step and direction must carry.
    pub fn command_id(saga_id: SagaId, step: &str, direction: Direction) -> String {
        format!("{saga_id}:{step}:{}", direction.as_str())
    }
}
