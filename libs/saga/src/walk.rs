//! The moves a transition is made of: to the next step, back to the one before, or on waiting.

use time::OffsetDateTime;

use crate::{
    definition::{Action, Class, Definition, Saga, Step, Undo},
    effect::{Effect, Entry, LogEntry, SendCommand},
    error::Unrunnable,
    instance::{Direction, Failure, Instance, Status, Wait, command_id},
    retry::{Jitter, later},
    transition::{Judgement, RESTORED, Transition},
    words::cut,
};

/// A transition in the making.
pub(crate) struct Walk<'a, S: Saga> {
    pub(crate) definition: &'a Definition<S>,
    pub(crate) instance: Instance<S::Data>,
    pub(crate) now: OffsetDateTime,
    pub(crate) jitter: Jitter,
    effects: Vec<Effect<S::Command, S::Local>>,
    log: Vec<LogEntry>,
}

impl<'a, S: Saga> Walk<'a, S> {
    pub(crate) fn new(
        definition: &'a Definition<S>,
        instance: Instance<S::Data>,
        now: OffsetDateTime,
        jitter: Jitter,
    ) -> Self {
        Self {
            definition,
            instance,
            now,
            jitter,
            effects: Vec::new(),
            log: Vec::new(),
        }
    }

    pub(crate) fn end(self, judgement: Judgement) -> Transition<S> {
        let Self {
            instance,
            effects,
            log,
            ..
        } = self;
        Transition {
            instance,
            effects,
            log,
            judgement,
        }
    }

    /// Does the steps from `index` on: local ones at once, up to the first command.
    pub(crate) fn forward_from(&mut self, index: usize) {
        for step in self.definition.steps().iter().skip(index) {
            match step.forward {
                Action::Command(_) => return self.outstanding(step, Direction::Forward),
                Action::Local(local) => {
                    let local = local(self.instance.current());
                    self.done_locally(step, Direction::Forward, local);
                }
            }
        }
        self.finish(Status::Completed);
    }

    /// From now on only backward: what steps before `end` did, or may have done, is undone.
    pub(crate) fn turn_back(&mut self, failure: Failure, end: usize) {
        let failure = failure.bounded();
        self.log(
            Entry::TurnedBack,
            format!("{}: {}", failure.reason, failure.message),
        );
        self.instance.status = Status::Compensating;
        self.instance.failure = Some(failure);
        self.backward_before(end);
    }

    /// Undoes the steps before `end`, the last one first: local ones at once, up to a command.
    pub(crate) fn backward_before(&mut self, end: usize) {
        for step in self.definition.steps().iter().take(end).rev() {
            match &step.undo {
                Some(Undo::By(Action::Command(_))) => {
                    return self.outstanding(step, Direction::Backward);
                }
                Some(Undo::By(Action::Local(local))) => {
                    let local = local(&self.instance.data);
                    self.done_locally(step, Direction::Backward, local);
                }
                // A pivot or retriable step has no undo, and no walk back begins after the pivot.
                Some(Undo::Nothing) | None => {
                    self.at(step, Direction::Backward);
                    self.log(
                        Entry::NothingToUndo,
                        format!("{} leaves nothing behind", step.name),
                    );
                }
            }
        }
        self.finish(Status::Compensated);
    }

    /// Makes the step's command the outstanding one, the only one whose outcome counts.
    fn outstanding(&mut self, step: &'a Step<S>, direction: Direction) {
        self.at(step, direction);
        self.instance.command_id = Some(command_id(self.instance.saga_id, step.name, direction));
        self.instance.wait = Wait::Sent;
        self.instance.waiting_reason = None;
        self.instance.stuck_reason = None;
        self.instance.attempt = 0;
        self.instance.asks = 0;
        self.instance.step_since = self.now;
        let first = self.first_due(step);
        // An earlier timer is left alone (see `timer`): a later one would come too late.
        if self.instance.next_action_at.is_none_or(|at| at > first) {
            self.instance.next_action_at = Some(first);
        }
        let (entry, what) = match direction {
            Direction::Forward => (Entry::StepStarted, "asked"),
            Direction::Backward => (Entry::UndoStarted, "asked to be undone"),
        };
        self.log(entry, format!("{} was {what}", step.name));
        self.push_send(step, false);
    }

    fn done_locally(&mut self, step: &'a Step<S>, direction: Direction, local: S::Local) {
        self.at(step, direction);
        self.effects.push(Effect::RunLocal(local));
        let (entry, what) = match direction {
            Direction::Forward => (Entry::LocalStepDone, "done"),
            Direction::Backward => (Entry::LocalUndoDone, "undone"),
        };
        self.log(entry, format!("{} is {what}", step.name));
    }

    fn at(&mut self, step: &Step<S>, direction: Direction) {
        step.name.clone_into(&mut self.instance.step);
        self.instance.direction = direction;
        self.instance.command_id = None;
    }

    fn finish(&mut self, status: Status) {
        if let (Status::Compensated, Some(failure)) = (status, &self.instance.failure)
            && let Some(local) = S::compensated(self.instance.current(), failure)
        {
            self.effects.push(Effect::RunLocal(local));
        }
        self.instance.status = status;
        self.instance.command_id = None;
        self.instance.waiting_reason = None;
        self.instance.next_action_at = None;
        let (entry, detail) = match status {
            Status::Completed => (Entry::Completed, "every step is done"),
            _ => (Entry::Compensated, "everything is undone"),
        };
        self.log(entry, detail.to_owned());
        self.effects.push(Effect::Finish(status));
    }

    /// Sends the outstanding command again, under the same id, and sets the next wait.
    pub(crate) fn ask_again(&mut self, step: &'a Step<S>) -> Result<(), Unrunnable> {
        let timing = self.definition.timing();
        let wait = match self.instance.wait {
            Wait::Sent | Wait::Acked => {
                self.instance.asks = self.instance.asks.saturating_add(1);
                timing.ask_delay(self.instance.asks)
            }
            // The whole wait: if this send fails too, its report sets the jittered one.
            Wait::NoAck => {
                let next = self.instance.attempt.saturating_add(1);
                timing.no_ack_ceiling(next, self.before_pivot(step))
            }
            Wait::CannotConnect => timing.cap_cannot_connect,
        };
        self.fire_in(wait, step);
        let count = self.instance.asks.max(self.instance.attempt);
        // Logarithmic, so that a saga that waits for weeks keeps a timeline one can read.
        if count.is_power_of_two() && self.instance.wait != Wait::CannotConnect {
            self.log(
                Entry::AskedAgain,
                format!("{} was asked again ({count})", step.name),
            );
        }
        self.resend(step)
    }

    /// The outstanding command once more; the timer is not moved.
    pub(crate) fn resend(&mut self, step: &'a Step<S>) -> Result<(), Unrunnable> {
        if self.push_send(step, true) {
            Ok(())
        } else {
            Err(Unrunnable::NoSuchCommand {
                step: step.name.to_owned(),
            })
        }
    }

    fn push_send(&mut self, step: &'a Step<S>, again: bool) -> bool {
        let direction = self.instance.direction;
        let command = match (direction, &step.forward, &step.undo) {
            (Direction::Forward, Action::Command(forward), _) => forward(self.instance.current()),
            // Only what was known at the start: the step may never have answered.
            (Direction::Backward, _, Some(Undo::By(Action::Command(undo)))) => {
                undo(&self.instance.data)
            }
            _ => return false,
        };
        self.effects.push(Effect::Send(SendCommand {
            command_id: command_id(self.instance.saga_id, step.name, direction),
            step: step.name,
            direction,
            epoch: self.instance.epoch,
            again,
            command,
        }));
        true
    }

    pub(crate) fn learn(&mut self, reply: &S::Reply) {
        let mut data = self.instance.current().clone();
        S::learn(&mut data, reply);
        self.instance.learned = (data != self.instance.data).then_some(data);
    }

    /// What is known of the outstanding command. Told to people when it is new.
    pub(crate) fn wait(&mut self, wait: Wait, why: Option<String>) {
        let told = |instance: &Instance<S::Data>| {
            instance
                .waiting_reason
                .clone()
                .unwrap_or_else(|| instance.wait.to_string())
        };
        let before = told(&self.instance);
        self.instance.wait = wait;
        self.instance.waiting_reason = why;
        let after = told(&self.instance);
        if before != after {
            self.log(Entry::Waiting, after);
        }
    }

    /// Marks the live saga for a person. The same reason is told once, and a restored database
    /// stays the reason: only an outcome or a person takes that mark away.
    pub(crate) fn stuck(&mut self, reason: &str, why: &str) {
        let reason = cut(reason.to_owned(), Failure::REASON_CHARS_MAX);
        let before = self.instance.stuck_reason.as_deref();
        if before != Some(&reason) && before != Some(RESTORED) {
            self.log(Entry::Stuck, format!("{reason}: {why}"));
            self.instance.stuck_reason = Some(reason);
        }
    }

    pub(crate) fn unstuck(&mut self, why: &str) {
        if self.instance.stuck_reason.take().is_some() {
            self.log(Entry::Unstuck, why.to_owned());
        }
    }

    /// Sets the timer, but never past the moment when the step's time is up: that must be seen.
    pub(crate) fn fire_in(&mut self, wait: std::time::Duration, step: &Step<S>) {
        let at = later(self.now, wait);
        // Once stuck, the time is known to be up, and the waits alone decide.
        let at = match self.instance.stuck_reason {
            None => at.min(self.deadline(step).max(self.now)),
            Some(_) => at,
        };
        self.instance.next_action_at = Some(at);
    }

    /// When a step whose command was sent once is asked again.
    pub(crate) fn first_due(&self, step: &Step<S>) -> OffsetDateTime {
        let first = later(self.instance.step_since, self.definition.timing().first_try);
        first.min(self.deadline(step))
    }

    /// When the outstanding command's time is up.
    pub(crate) fn deadline(&self, step: &Step<S>) -> OffsetDateTime {
        let budget = self.definition.budget(step, self.instance.direction);
        let own = later(self.instance.step_since, budget);
        if self.before_pivot(step) {
            own.min(later(
                self.instance.started_at,
                self.definition.budget_before_pivot(),
            ))
        } else {
            own
        }
    }

    fn before_pivot(&self, step: &Step<S>) -> bool {
        self.instance.direction == Direction::Forward && step.class == Class::Compensatable
    }

    pub(crate) fn log(&mut self, entry: Entry, detail: String) {
        let command_id = self.instance.command_id.clone();
        self.push_log(entry, command_id, detail);
    }

    pub(crate) fn log_about(&mut self, entry: Entry, command_id: &str, detail: String) {
        self.push_log(entry, Some(command_id.to_owned()), detail);
    }

    fn push_log(&mut self, entry: Entry, command_id: Option<String>, detail: String) {
        self.log.push(LogEntry {
            entry,
            step: self.instance.step.clone(),
            direction: self.instance.direction,
            command_id,
            detail: cut(detail, LogEntry::DETAIL_CHARS_MAX),
        });
    }
}
