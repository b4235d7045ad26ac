//! Test a saga as a conversation: it asks, you answer, it ends. No broker, no database, no clock.
//!
//! Every method panics with the whole timeline if the saga does something else.
#![allow(
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "this is a test kit: a failed expectation is a panic"
)]
#![allow(
    clippy::needless_pass_by_value,
    reason = "a dialogue reads better without references"
)]

use std::{fmt, fmt::Write as _, time::Duration};

use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    definition::{Definition, Saga},
    effect::{Effect, LogEntry, SendCommand},
    instance::{Direction, Failure, Instance, Status, command_id},
    retry::{Jitter, Timing, later},
    transition::{Input, Judgement, SendFailure, Transition, advance, start},
};

/// Where conversations begin.
#[derive(Debug)]
pub struct Dialogue;

impl Dialogue {
    /// Starts a saga with the default waits.
    #[track_caller]
    pub fn start<S: Saga>(data: S::Data) -> Conversation<S> {
        Self::start_with(data, Timing::default())
    }

    /// Starts a saga with the waits given.
    #[track_caller]
    pub fn start_with<S: Saga>(data: S::Data, timing: Timing) -> Conversation<S> {
        let definition = match Definition::build(timing) {
            Ok(definition) => definition,
            Err(error) => panic!("{error}"),
        };
        let now = OffsetDateTime::UNIX_EPOCH;
        let saga_id = Uuid::from_u128(1);
        let Transition {
            instance,
            effects,
            log,
            ..
        } = start(&definition, saga_id, data, now);
        let mut saga = Conversation {
            definition,
            instance,
            now,
            sends: Vec::new(),
            locals: Vec::new(),
            log,
        };
        saga.take(effects);
        saga
    }
}

/// A saga that is being talked to.
pub struct Conversation<S: Saga> {
    definition: Definition<S>,
    instance: Instance<S::Data>,
    now: OffsetDateTime,
    sends: Vec<SendCommand<S::Command>>,
    locals: Vec<S::Local>,
    log: Vec<LogEntry>,
}

impl<S: Saga> fmt::Debug for Conversation<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

/// How a saga is expected to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending<'a> {
    /// Every step is done.
    Completed,
    /// Everything is undone.
    Compensated {
        /// The failure's reason.
        because: &'a str,
    },
}

impl<S: Saga> Conversation<S> {
    /// The saga asks exactly this, for the first time.
    #[track_caller]
    pub fn asks(&mut self, expected: S::Command) -> &mut Self {
        let send = self.next_send();
        if send.command != expected || send.again {
            self.fail(&format!(
                "expected it to ask {expected:?}\n     but it asked {send:?}"
            ));
        }
        self
    }

    /// The saga asks for the step of this name to be done.
    #[track_caller]
    pub fn asks_step(&mut self, step: &str) -> &mut Self {
        self.asks_for(step, Direction::Forward, false)
    }

    /// The saga asks for the step of this name to be undone.
    #[track_caller]
    pub fn undoes_step(&mut self, step: &str) -> &mut Self {
        self.asks_for(step, Direction::Backward, false)
    }

    /// The saga sends its outstanding command once more, under the same id.
    #[track_caller]
    pub fn asks_again(&mut self) -> &mut Self {
        let (step, direction) = (self.instance.step.clone(), self.instance.direction);
        self.asks_for(&step, direction, true)
    }

    /// The saga asks nothing now.
    #[track_caller]
    pub fn is_silent(&mut self) -> &mut Self {
        if !self.sends.is_empty() {
            self.fail(&format!("expected silence, but it asked {:?}", self.sends));
        }
        self
    }

    /// The saga did this in its own database, next in order.
    #[track_caller]
    pub fn runs(&mut self, expected: S::Local) -> &mut Self {
        if self.locals.first() != Some(&expected) {
            self.fail(&format!(
                "expected it to run {expected:?}; it ran {:?}",
                self.locals
            ));
        }
        self.locals.remove(0);
        self
    }

    /// A participant answers the outstanding command.
    #[track_caller]
    pub fn answer(&mut self, reply: S::Reply) -> &mut Self {
        let command_id = self.outstanding();
        self.obeys(Input::Outcome { command_id, reply })
    }

    /// An answer to a command that is not the outstanding one: journalled, and nothing changes.
    #[track_caller]
    pub fn answer_late(&mut self, step: &str, direction: Direction, reply: S::Reply) -> &mut Self {
        let command_id = command_id(self.instance.saga_id, step, direction);
        let before = self.instance.clone();
        let judgement = self.hears(Input::Outcome { command_id, reply });
        if judgement != Judgement::Late || before != self.instance {
            self.fail("expected the answer to be late and to change nothing");
        }
        self
    }

    /// The participant has the command.
    #[track_caller]
    pub fn acks(&mut self) -> &mut Self {
        let command_id = self.outstanding();
        self.hears(Input::Acked { command_id });
        self
    }

    /// The last send ended without an ack.
    #[track_caller]
    pub fn no_ack(&mut self) -> &mut Self {
        self.send_failed(SendFailure::NoAck)
    }

    /// The participant could not be connected to.
    #[track_caller]
    pub fn cannot_connect(&mut self) -> &mut Self {
        self.send_failed(SendFailure::CannotConnect)
    }

    /// The participant will not take the command.
    #[track_caller]
    pub fn rejects(&mut self, why: &str) -> &mut Self {
        self.send_failed(SendFailure::Rejected(why.to_owned()))
    }

    /// The participant knows this higher epoch.
    #[track_caller]
    pub fn stale_epoch(&mut self, highest: i64) -> &mut Self {
        let command_id = self.outstanding();
        self.hears(Input::StaleEpoch {
            command_id,
            highest,
        });
        self
    }

    /// The participant says the step was undone before it came.
    #[track_caller]
    pub fn already_undone(&mut self) -> &mut Self {
        let command_id = self.outstanding();
        self.hears(Input::AlreadyUndone { command_id });
        self
    }

    /// Somebody cancels, and the saga turns back.
    #[track_caller]
    pub fn cancel(&mut self, reason: &str) -> &mut Self {
        self.obeys(Input::Cancel(Failure::new(reason, "cancelled")))
    }

    /// Somebody cancels, and it is too late for that.
    #[track_caller]
    pub fn cancel_is_too_late(&mut self) -> &mut Self {
        let judgement = self.hears(Input::Cancel(Failure::new("CANCELLED", "cancelled")));
        if judgement != Judgement::TooLate {
            self.fail("expected the cancel to be too late");
        }
        self
    }

    /// Another engine takes the saga over.
    #[track_caller]
    pub fn is_resumed(&mut self) -> &mut Self {
        self.obeys(Input::Resume)
    }

    /// The time that the saga's timer is set to comes, and it fires.
    #[track_caller]
    pub fn timer_fires(&mut self) -> &mut Self {
        match self.instance.next_action_at {
            Some(at) => self.now = at.max(self.now),
            None => self.fail("expected a timer, but none is set"),
        }
        self.obeys(Input::Timer)
    }

    /// Time passes and timers fire as they come. Every send but the last is lost.
    #[track_caller]
    pub fn wait(&mut self, wait: Duration) -> &mut Self {
        let end = later(self.now, wait);
        while self.instance.next_action_at.is_some_and(|at| at <= end) {
            self.sends.clear();
            self.timer_fires();
        }
        self.now = end;
        self
    }

    /// The participant has the command and never has an outcome, until the step's time is up.
    #[track_caller]
    pub fn times_out(&mut self) -> &mut Self {
        let command = self.instance.command_id.clone();
        let stuck = self.instance.stuck_reason.clone();
        while self.instance.command_id == command && self.instance.stuck_reason == stuck {
            self.sends.clear();
            self.timer_fires();
        }
        self
    }

    /// The saga is marked for a person.
    #[track_caller]
    pub fn is_stuck(&mut self, reason: &str) -> &mut Self {
        if self.instance.stuck_reason.as_deref() != Some(reason) {
            self.fail(&format!("expected it to be stuck: {reason}"));
        }
        self
    }

    /// The saga is not marked for a person.
    #[track_caller]
    pub fn is_not_stuck(&mut self) -> &mut Self {
        if self.instance.stuck_reason.is_some() {
            self.fail("expected it not to be stuck");
        }
        self
    }

    /// The saga has ended like this, and asks nothing any more.
    #[track_caller]
    pub fn ends(&mut self, expected: Ending<'_>) {
        let because = self
            .instance
            .failure
            .as_ref()
            .map_or("", |failure| &failure.reason);
        let holds = match expected {
            Ending::Completed => self.instance.status == Status::Completed,
            Ending::Compensated { because: reason } => {
                self.instance.status == Status::Compensated && because == reason
            }
        };
        if !holds || self.instance.next_action_at.is_some() {
            self.fail(&format!("expected it to have ended: {expected:?}"));
        }
        self.is_silent();
    }

    /// The saga as it would be saved now.
    pub fn instance(&self) -> &Instance<S::Data> {
        &self.instance
    }

    /// The timeline so far.
    pub fn log(&self) -> &[LogEntry] {
        &self.log
    }

    /// The conversation's clock.
    pub fn now(&self) -> OffsetDateTime {
        self.now
    }

    /// Gives the saga any input; the answer says how it was taken.
    #[track_caller]
    pub fn hears(&mut self, input: Input<S::Reply>) -> Judgement {
        match advance(
            &self.definition,
            &self.instance,
            input,
            self.now,
            Jitter::NONE,
        ) {
            Ok(Transition {
                instance,
                effects,
                log,
                judgement,
            }) => {
                self.instance = instance;
                self.log.extend(log);
                self.take(effects);
                judgement
            }
            Err(error) => self.fail(&error.to_string()),
        }
    }

    #[track_caller]
    fn obeys(&mut self, input: Input<S::Reply>) -> &mut Self {
        let shown = format!("{input:?}");
        if self.hears(input) != Judgement::Obeyed {
            self.fail(&format!("expected it to take in {shown}"));
        }
        self
    }

    #[track_caller]
    fn send_failed(&mut self, kind: SendFailure) -> &mut Self {
        let command_id = self.outstanding();
        self.obeys(Input::SendFailed { command_id, kind })
    }

    #[track_caller]
    fn asks_for(&mut self, step: &str, direction: Direction, again: bool) -> &mut Self {
        let send = self.next_send();
        if (send.step, send.direction, send.again) != (step, direction, again) {
            let how = if again { " again" } else { "" };
            self.fail(&format!(
                "expected it to ask {step} {direction}{how}, but it asked {send:?}"
            ));
        }
        self
    }

    #[track_caller]
    fn next_send(&mut self) -> SendCommand<S::Command> {
        if self.sends.is_empty() {
            self.fail("expected it to ask something, but it asks nothing");
        }
        self.sends.remove(0)
    }

    #[track_caller]
    fn outstanding(&self) -> String {
        match &self.instance.command_id {
            Some(command_id) => command_id.clone(),
            None => self.fail("expected an outstanding command, but the saga has ended"),
        }
    }

    fn take(&mut self, effects: Vec<Effect<S::Command, S::Local>>) {
        for effect in effects {
            match effect {
                Effect::Send(send) => self.sends.push(send),
                Effect::RunLocal(local) => self.locals.push(local),
                Effect::Finish(_) => {}
            }
        }
    }

    #[track_caller]
    fn fail(&self, what: &str) -> ! {
        let mut timeline = String::new();
        for line in &self.log {
            let _ = write!(
                timeline,
                "\n  {:<16} {:<20} {}",
                line.entry, line.step, line.detail
            );
        }
        let Instance {
            status,
            step,
            direction,
            stuck_reason,
            ..
        } = &self.instance;
        panic!("{what}\n{status} at {step} {direction}, stuck: {stuck_reason:?}{timeline}");
    }
}
