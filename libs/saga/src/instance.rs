//! The state of one run, as it is saved: everything that [`advance`](crate::advance) needs to know.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::words::{cut, words};

/// One run of a saga. Plain data: any store can keep it.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance<D> {
    /// The saga's id.
    pub saga_id: Uuid,
    /// Where the run stands.
    pub status: Status,
    /// Why a person must look. A mark on a live saga: step, direction and command stay.
    pub stuck_reason: Option<String>,
    /// The step whose command is outstanding, or the last one once the saga has ended.
    pub step: String,
    /// Whether the step is being done or undone.
    pub direction: Direction,
    /// The outstanding command. Only its outcome is obeyed.
    pub command_id: Option<String>,
    /// What is known of the outstanding command.
    pub wait: Wait,
    /// What the participant says about the wait, `UPPER_SNAKE`.
    pub waiting_reason: Option<String>,
    /// Sends of the outstanding command in a row that ended without an ack.
    pub attempt: u32,
    /// How often the participant was asked again; never a reason to give up.
    pub asks: u32,
    /// Raised only by whoever takes the saga over; participants refuse lower ones.
    pub epoch: i64,
    /// Rises with every saved change: the compare-and-set of the store.
    pub version: i64,
    /// As given at the start. Undo functions see this and nothing else.
    pub data: D,
    /// The data with what replies added to it, if they added anything.
    pub learned: Option<D>,
    /// Why the saga turned back.
    pub failure: Option<Failure>,
    /// When the saga began.
    pub started_at: OffsetDateTime,
    /// When the outstanding command was first asked.
    pub step_since: OffsetDateTime,
    /// When the timer fires. Absent once the saga has ended.
    pub next_action_at: Option<OffsetDateTime>,
}

impl<D> Instance<D> {
    /// The data as forward steps see it.
    pub fn current(&self) -> &D {
        self.learned.as_ref().unwrap_or(&self.data)
    }

    /// Whether `command_id` is the one whose outcome counts.
    pub fn awaits(&self, command_id: &str) -> bool {
        self.command_id.as_deref() == Some(command_id)
    }
}

/// `{saga_id}:{step}:{forward|backward}`: the idempotency key of a command, down the line.
pub fn command_id(saga_id: Uuid, step: &str, direction: Direction) -> String {
    let direction = match direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
    };
    format!("{saga_id}:{step}:{direction}")
}

/// Why a saga turned back: what the customer is told, and what a person needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// `UPPER_SNAKE`, for example `CARD_DECLINED`.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
    /// Whatever else the saga's end needs, for example the missing lines.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}

impl Failure {
    /// A reason longer than this is cut before it is saved.
    pub const REASON_CHARS_MAX: usize = 63;
    /// A message longer than this is cut before it is saved.
    pub const MESSAGE_CHARS_MAX: usize = 500;
    /// A detail larger than this as JSON is dropped before it is saved.
    pub const DETAIL_BYTES_MAX: usize = 16 * 1024;

    /// A failure without detail.
    pub fn new(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            message: message.into(),
            detail: Value::Null,
        }
    }

    /// The failure, small enough for a row: a participant's text must not stop the saga.
    pub(crate) fn bounded(mut self) -> Self {
        self.reason = cut(self.reason, Self::REASON_CHARS_MAX);
        self.message = cut(self.message, Self::MESSAGE_CHARS_MAX);
        if self.detail.to_string().len() > Self::DETAIL_BYTES_MAX {
            self.detail = Value::Null;
        }
        self
    }
}

words! {
    /// Where a run stands. Being stuck is no status but a mark on a live saga.
    Status, "saga status" {
        /// Going forward.
        Running = "RUNNING",
        /// Undoing what took or may have taken effect.
        Compensating = "COMPENSATING",
        /// Every step is done.
        Completed = "COMPLETED",
        /// Everything is undone.
        Compensated = "COMPENSATED",
        /// Closed by a person.
        Failed = "FAILED",
    }
}

impl Status {
    /// Whether the saga still has something to do.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Running | Self::Compensating)
    }
}

words! {
    /// Whether a command does a step or undoes it.
    Direction, "direction" {
        /// Does it.
        Forward = "FORWARD",
        /// Undoes it.
        Backward = "BACKWARD",
    }
}

words! {
    /// What is known of the outstanding command.
    Wait, "wait" {
        /// Sent, or about to be. A first ack is not worth a commit, so it may have been acked.
        Sent = "SENT",
        /// The participant has it; its outcome is awaited.
        Acked = "ACKED",
        /// The last send ended without an ack. It may have arrived all the same.
        NoAck = "NO_ACK",
        /// The participant could not be connected to.
        CannotConnect = "CANNOT_CONNECT",
    }
}
