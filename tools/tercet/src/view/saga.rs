//! A saga and its timeline.

use std::fmt::Write as _;

use serde::Serialize;
use tercet_contracts::saga::v1 as pb;

use crate::{
    screen::{Ink, Record, Tone},
    view::{clock, state, timestamp},
};

/// A saga as JSON, as a row and as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SagaView {
    /// The saga's id.
    pub saga_id: String,
    /// The definition's name.
    pub kind: String,
    /// The definition's version.
    pub definition_version: i32,
    /// `RUNNING`, `COMPENSATING`, `COMPLETED`, `COMPENSATED` or `FAILED`.
    pub status: String,
    /// Why it waits for a person; empty unless it does.
    pub stuck_reason: String,
    /// The step it is at.
    pub step: String,
    /// `FORWARD` or `BACKWARD`.
    pub direction: String,
    /// Sends of the outstanding command that ended without an ack.
    pub attempt: i32,
    /// Raised when another orchestrator took it over.
    pub epoch: i64,
    /// Rises with every saved transition.
    pub version: i64,
    /// The outstanding command; empty if none.
    pub command_id: String,
    /// The order it runs.
    pub order_id: String,
    /// Why it turned back; empty while it goes forward.
    pub failure_reason: String,
    /// When it was started.
    pub create_time: Option<String>,
    /// When it last changed.
    pub update_time: Option<String>,
    /// When it acts next by itself.
    pub next_action_time: Option<String>,
}

/// One line of a saga's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SagaLogView {
    /// Its place in the log.
    pub seq: i64,
    /// When.
    pub time: Option<String>,
    /// `UPPER_SNAKE`.
    pub entry: String,
    /// The step it is about.
    pub step: String,
    /// `FORWARD` or `BACKWARD`; empty if neither.
    pub direction: String,
    /// The command it is about.
    pub command_id: String,
    /// A sentence.
    pub detail: String,
}

/// A saga with its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SagaWithLog {
    /// The saga.
    #[serde(flatten)]
    pub saga: SagaView,
    /// Oldest first.
    pub log: Vec<SagaLogView>,
}

impl From<pb::Saga> for SagaView {
    fn from(saga: pb::Saga) -> Self {
        let status = state(saga.status().as_str_name(), "STATUS_");
        let direction = direction(saga.direction());
        Self {
            saga_id: saga.saga_id,
            kind: saga.kind,
            definition_version: saga.definition_version,
            status,
            stuck_reason: saga.stuck_reason,
            step: saga.step,
            direction,
            attempt: saga.attempt,
            epoch: saga.epoch,
            version: saga.version,
            command_id: saga.command_id,
            order_id: saga.order_id,
            failure_reason: saga.failure_reason,
            create_time: timestamp(saga.create_time),
            update_time: timestamp(saga.update_time),
            next_action_time: timestamp(saga.next_action_time),
        }
    }
}

impl From<pb::SagaLogEntry> for SagaLogView {
    fn from(entry: pb::SagaLogEntry) -> Self {
        let direction = direction(entry.direction());
        Self {
            seq: entry.seq,
            time: timestamp(entry.time),
            entry: entry.entry,
            step: entry.step,
            direction,
            command_id: entry.command_id,
            detail: entry.detail,
        }
    }
}

fn direction(direction: pb::Direction) -> String {
    match direction {
        pb::Direction::Unspecified => String::new(),
        known => state(known.as_str_name(), "DIRECTION_"),
    }
}

impl SagaView {
    /// The status, with the mark of a saga that waits for a person.
    pub fn standing(&self) -> String {
        if self.stuck_reason.is_empty() {
            self.status.clone()
        } else {
            format!("{} STUCK", self.status)
        }
    }

    fn tone(&self) -> Tone {
        match self.status.as_str() {
            _ if !self.stuck_reason.is_empty() => Tone::Bad,
            "COMPLETED" => Tone::Good,
            "COMPENSATED" => Tone::Dim,
            "FAILED" => Tone::Bad,
            _ => Tone::Warn,
        }
    }

    /// What it is and where it stands, for people.
    pub fn draw(&self, ink: Ink) -> String {
        let mut text = String::new();
        let mut field = |name: &str, value: &str| {
            if !value.is_empty() {
                let _ = writeln!(text, "{} {value}", ink.dim(&format!("{name:<12}")));
            }
        };
        let standing = match self.tone() {
            Tone::Good => ink.good(&self.standing()),
            Tone::Bad => ink.bad(&self.standing()),
            Tone::Dim => self.standing(),
            _ => ink.warn(&self.standing()),
        };
        field("saga", &ink.bold(&self.saga_id));
        field(
            "kind",
            &format!("{} v{}", self.kind, self.definition_version),
        );
        field("status", &standing);
        field("stuck", &self.stuck_reason);
        field("because", &self.failure_reason);
        field(
            "step",
            format!("{} {}", self.step, self.direction.to_lowercase()).trim(),
        );
        field("command", &self.command_id);
        field("order", &self.order_id);
        field("started", &clock(self.create_time.as_deref()));
        field("changed", &clock(self.update_time.as_deref()));
        field("acts next", &clock(self.next_action_time.as_deref()));
        text.trim_end().to_owned()
    }
}

impl Record for SagaView {
    const HEADINGS: &'static [&'static str] = &["SAGA", "STATUS", "STEP", "BECAUSE", "CHANGED"];
    const EMPTY: &'static str = "no sagas";

    fn cells(&self) -> Vec<(String, Tone)> {
        let because = if self.stuck_reason.is_empty() {
            &self.failure_reason
        } else {
            &self.stuck_reason
        };
        vec![
            (self.saga_id.clone(), Tone::Plain),
            (self.standing(), self.tone()),
            (self.step.clone(), Tone::Plain),
            (because.clone(), Tone::Plain),
            (clock(self.update_time.as_deref()), Tone::Dim),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stuck_saga_says_so_first() {
        let saga = SagaView::from(pb::Saga {
            saga_id: "0192".into(),
            kind: "place-order".into(),
            definition_version: 1,
            status: pb::saga::Status::Compensating.into(),
            stuck_reason: "REFUND_REFUSED".into(),
            step: "charge-payment".into(),
            direction: pb::Direction::Backward.into(),
            ..pb::Saga::default()
        });
        assert_eq!(
            saga.cells()[1],
            ("COMPENSATING STUCK".to_owned(), Tone::Bad)
        );
        assert_eq!(
            saga.draw(Ink::PLAIN),
            "saga         0192\n\
             kind         place-order v1\n\
             status       COMPENSATING STUCK\n\
             stuck        REFUND_REFUSED\n\
             step         charge-payment backward"
        );
    }
}
