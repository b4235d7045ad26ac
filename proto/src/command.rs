//! What every command has in common: who sends it, how it is answered, and how it is refused.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::saga::v1::{CommandAck, CommandContext, DecidedOutcome, Direction, command_ack::State};

/// `ErrorInfo.reason`: the sender lost the saga to one with a higher epoch, told in the metadata.
pub const STALE_EPOCH: &str = "STALE_EPOCH";
/// `ErrorInfo.reason`: the undo of this step was here before.
pub const STEP_ALREADY_UNDONE: &str = "STEP_ALREADY_UNDONE";
/// `ErrorInfo.metadata` of [`STALE_EPOCH`]: the highest epoch that the participant knows.
pub const HIGHEST_EPOCH: &str = "highest_epoch";

/// `ce_sagaid` of an outcome.
pub const SAGA_ID_HEADER: &str = "ce_sagaid";
/// `ce_commandid` of an outcome: without it, an event is none.
pub const COMMAND_ID_HEADER: &str = "ce_commandid";
/// `ce_outcome`: [`FINAL`] or [`INFO`].
pub const OUTCOME_HEADER: &str = "ce_outcome";
/// `ce_correlationid`: the saga again, under CloudEvents' own name.
pub const CORRELATION_ID_HEADER: &str = "ce_correlationid";
/// The outcome ends its command.
pub const FINAL: &str = "final";
/// The outcome tells how the command is getting on.
pub const INFO: &str = "info";

const STEP_LEN_MAX: usize = 63;

/// A well-formed context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    pub saga_id: Uuid,
    pub step: String,
    pub command_id: String,
    pub epoch: i64,
}

/// `{saga_id}:{step}:{forward|backward}`.
pub fn command_id(saga_id: Uuid, step: &str, direction: Direction) -> String {
    let direction = if direction == Direction::Backward {
        "backward"
    } else {
        "forward"
    };
    format!("{saga_id}:{step}:{direction}")
}

impl CommandContext {
    /// The context of a command that goes in `expected`. The error lists every bad field.
    pub fn checked(
        this: Option<&Self>,
        expected: Direction,
    ) -> Result<Context, Vec<(&'static str, String)>> {
        let Some(this) = this else {
            return Err(vec![("context", "must be set".to_owned())]);
        };
        let mut wrong = Vec::new();
        let saga_id = Uuid::try_parse(&this.saga_id).ok();
        if saga_id.is_none() {
            wrong.push(("context.saga_id", "must be a UUID".to_owned()));
        }
        let step = &this.step;
        let kebab = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if step.is_empty() || step.len() > STEP_LEN_MAX || !step.bytes().all(kebab) {
            wrong.push((
                "context.step",
                "must be kebab-case, 1 to 63 characters".to_owned(),
            ));
        }
        if this.direction() != expected {
            wrong.push((
                "context.direction",
                format!("must be {}", expected.as_str_name()),
            ));
        }
        if this.epoch < 1 {
            wrong.push(("context.epoch", "must be 1 or more".to_owned()));
        }
        if let Some(saga_id) = saga_id {
            let id = command_id(saga_id, step, expected);
            if this.command_id != id {
                wrong.push(("context.command_id", format!("must be {id}")));
            }
        }
        match saga_id {
            Some(saga_id) if wrong.is_empty() => Ok(Context {
                saga_id,
                step: step.clone(),
                command_id: this.command_id.clone(),
                epoch: this.epoch,
            }),
            _ => Err(wrong),
        }
    }
}

/// The headers by which an outcome finds its saga.
pub fn outcome_headers(saga_id: Uuid, command_id: &str, outcome: &str) -> BTreeMap<String, String> {
    let saga_id = saga_id.to_string();
    [
        (SAGA_ID_HEADER, saga_id.clone()),
        (CORRELATION_ID_HEADER, saga_id),
        (COMMAND_ID_HEADER, command_id.to_owned()),
        (OUTCOME_HEADER, outcome.to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

impl CommandAck {
    /// Taken for the first time; the outcome comes by Kafka.
    pub fn accepted() -> Self {
        Self {
            state: State::Accepted.into(),
            decided: None,
        }
    }

    /// Taken before and still open.
    pub fn in_progress() -> Self {
        Self {
            state: State::InProgress.into(),
            decided: None,
        }
    }

    /// Decided before.
    pub fn decided(outcome: DecidedOutcome) -> Self {
        Self {
            state: State::Decided.into(),
            decided: Some(outcome),
        }
    }
}
