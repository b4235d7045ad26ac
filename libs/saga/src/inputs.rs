//! What each input does to a saga at its outstanding step: one function per input, in the order of
//! [`Input`](crate::Input).

use crate::{
    definition::{Class, Notice, Saga, Step, Verdict},
    effect::Entry,
    error::Unrunnable,
    instance::{Direction, Failure, Status, Wait},
    retry::later,
    transition::{
        COMMAND_REJECTED, Judgement, NO_ACK, OUTCOME_PENDING, RESTORED, SendFailure, TIME_IS_UP,
    },
    walk::Walk,
};

/// A saga at its outstanding step.
pub(crate) struct At<'a, S: Saga> {
    pub(crate) walk: Walk<'a, S>,
    pub(crate) index: usize,
    pub(crate) step: &'a Step<S>,
}

impl<S: Saga> At<'_, S> {
    pub(crate) fn outcome(&mut self, command_id: &str, reply: &S::Reply) -> Judgement {
        if !self.walk.instance.awaits(command_id) {
            let detail = "an outcome of a command that is not outstanding; not obeyed".to_owned();
            self.walk.log_about(Entry::LateOutcome, command_id, detail);
            return Judgement::Late;
        }
        match S::judge(reply) {
            Verdict::Info(Notice::Waiting(why)) => self.still_waiting(Some(why)),
            Verdict::Info(Notice::Stuck(why)) => self.walk.stuck(&why, "the participant says so"),
            Verdict::Succeeded => self.succeeded(reply),
            Verdict::Refused(failure) => self.refused(failure),
        }
        Judgement::Obeyed
    }

    fn succeeded(&mut self, reply: &S::Reply) {
        let name = self.step.name;
        self.walk.unstuck("its outcome came");
        match self.walk.instance.direction {
            Direction::Forward => {
                self.walk
                    .log(Entry::StepSucceeded, format!("{name} took effect"));
                self.walk.learn(reply);
                self.walk.forward_from(self.index + 1);
            }
            Direction::Backward => {
                self.walk
                    .log(Entry::UndoSucceeded, format!("{name} is undone"));
                self.walk.backward_before(self.index);
            }
        }
    }

    fn refused(&mut self, failure: Failure) {
        let forward = self.walk.instance.direction == Direction::Forward;
        if forward && self.step.class != Class::Retriable {
            self.walk.unstuck("its outcome came");
            let detail = format!("{} was refused: {}", self.step.name, failure.reason);
            self.walk.log(Entry::StepRefused, detail);
            // Known to have left no effect: the step itself is not undone.
            self.walk.turn_back(failure, self.index);
        } else {
            // An undo, or a step after the pivot, has one outcome: done. Anything else is kept for
            // a person, and the command stays outstanding.
            self.walk.stuck(&failure.reason, &failure.message);
        }
    }

    pub(crate) fn acked(&mut self, command_id: &str) -> Judgement {
        let known = self.walk.instance.wait == Wait::Acked;
        if !self.walk.instance.awaits(command_id) || known {
            return Judgement::Ignored;
        }
        self.still_waiting(None);
        Judgement::Obeyed
    }

    /// The participant has the command: from now on it is asked, and no try is counted.
    fn still_waiting(&mut self, why: Option<String>) {
        if self.walk.instance.stuck_reason.as_deref() == Some(NO_ACK) {
            self.walk.unstuck("the participant has the command");
        }
        let ask = self
            .walk
            .definition
            .timing()
            .ask_delay(self.walk.instance.asks);
        self.walk.instance.attempt = 0;
        self.walk.wait(
            Wait::Acked,
            why.or_else(|| Some(OUTCOME_PENDING.to_owned())),
        );
        self.walk.fire_in(ask, self.step);
    }

    pub(crate) fn send_failed(&mut self, command_id: &str, kind: SendFailure) -> Judgement {
        if !self.walk.instance.awaits(command_id) {
            return Judgement::Ignored;
        }
        let timing = self.walk.definition.timing();
        let before_pivot = self.turns_back_by_time();
        match kind {
            SendFailure::CannotConnect => {
                self.walk.wait(Wait::CannotConnect, None);
                let wait = self.walk.jitter.of(timing.cap_cannot_connect);
                self.walk.fire_in(wait, self.step);
            }
            SendFailure::Rejected(why) if before_pivot => {
                let name = self.step.name;
                self.unknown(Failure::new(COMMAND_REJECTED, format!("{name}: {why}")));
            }
            SendFailure::NoAck | SendFailure::Rejected(_) => {
                self.walk.instance.attempt = self.walk.instance.attempt.saturating_add(1);
                let attempt = self.walk.instance.attempt;
                self.walk.wait(Wait::NoAck, None);
                let ceiling = timing.no_ack_ceiling(attempt, before_pivot);
                let wait = self.walk.jitter.of(ceiling);
                self.walk.fire_in(wait, self.step);
                if let SendFailure::Rejected(why) = kind {
                    self.walk.stuck(COMMAND_REJECTED, &why);
                } else if attempt >= timing.attempts_max {
                    self.gave_no_ack(attempt, before_pivot);
                }
            }
        }
        Judgement::Obeyed
    }

    fn gave_no_ack(&mut self, attempt: u32, before_pivot: bool) {
        let detail = format!("{attempt} sends in a row ended without an ack");
        if before_pivot {
            self.unknown(Failure::new(
                NO_ACK,
                format!("{}: {detail}", self.step.name),
            ));
        } else if self.walk.instance.stuck_reason.is_none() {
            self.walk.stuck(NO_ACK, &detail);
        }
    }

    /// Somebody raised the epoch. If that was another engine on this row, its send or the timer
    /// follows; if this row is older than what the participant saw, its database was restored.
    pub(crate) fn stale_epoch(
        &mut self,
        command_id: &str,
        highest: i64,
    ) -> Result<Judgement, Unrunnable> {
        if !self.walk.instance.awaits(command_id) || self.walk.instance.epoch >= highest {
            return Ok(Judgement::Ignored);
        }
        self.walk.instance.epoch = highest.saturating_add(1);
        let detail = format!("the participant knew epoch {highest}; sent again under the next");
        self.walk.log_about(Entry::EpochRaised, command_id, detail);
        self.walk.resend(self.step)?;
        Ok(Judgement::Obeyed)
    }

    pub(crate) fn already_undone(&mut self, command_id: &str) -> Judgement {
        if !self.walk.instance.awaits(command_id) {
            return Judgement::Ignored;
        }
        self.walk.wait(Wait::NoAck, None);
        let cap = self.walk.definition.timing().cap_elsewhere;
        self.walk.instance.next_action_at = Some(later(self.walk.now, cap));
        self.walk.stuck(
            RESTORED,
            "the participant undid this step; this saga did not ask for it",
        );
        Judgement::Obeyed
    }

    pub(crate) fn timer(&mut self) -> Result<Judgement, Unrunnable> {
        let due = self
            .walk
            .instance
            .next_action_at
            .is_some_and(|at| at <= self.walk.now);
        if !self.walk.instance.status.is_live() || !due {
            return Ok(Judgement::Ignored);
        }
        // Lazy: a step that starts leaves an earlier timer alone, so that a happy saga never
        // touches the index. The price is paid here, by moving a timer that came too early.
        let own = self.walk.first_due(self.step);
        if self.walk.instance.wait == Wait::Sent
            && self.walk.instance.asks == 0
            && own > self.walk.now
        {
            self.walk.instance.next_action_at = Some(own);
            return Ok(Judgement::Obeyed);
        }
        self.ask_or_give_up()?;
        Ok(Judgement::Obeyed)
    }

    pub(crate) fn resume(&mut self) -> Result<Judgement, Unrunnable> {
        if !self.walk.instance.status.is_live() {
            return Ok(Judgement::Ignored);
        }
        self.walk.instance.epoch = self.walk.instance.epoch.saturating_add(1);
        let detail = format!("taken over under epoch {}", self.walk.instance.epoch);
        self.walk.log(Entry::Resumed, detail);
        self.ask_or_give_up()?;
        Ok(Judgement::Obeyed)
    }

    fn ask_or_give_up(&mut self) -> Result<(), Unrunnable> {
        if self.walk.now < self.walk.deadline(self.step) {
            return self.walk.ask_again(self.step);
        }
        if self.turns_back_by_time() {
            let detail = format!("{}: no outcome in the time given", self.step.name);
            self.unknown(Failure::new(TIME_IS_UP, detail));
            return Ok(());
        }
        if self.walk.instance.stuck_reason.is_none() {
            self.walk
                .stuck(TIME_IS_UP, "no outcome in the time given; still asked");
        }
        self.walk.ask_again(self.step)
    }

    pub(crate) fn cancel(&mut self, failure: Failure) -> Judgement {
        match (self.walk.instance.status, self.step.class) {
            (Status::Running, Class::Compensatable) => {
                self.walk
                    .log(Entry::CancelRequested, failure.message.clone());
                self.unknown(failure);
                Judgement::Obeyed
            }
            (Status::Running, Class::Pivot | Class::Retriable) => Judgement::TooLate,
            _ => Judgement::Ignored,
        }
    }

    /// The step is given up without an answer: it may have taken effect, so it is undone too.
    fn unknown(&mut self, failure: Failure) {
        let detail = format!(
            "{} is no longer waited for; undone in case it happened",
            self.step.name
        );
        self.walk.log(Entry::StepUnknown, detail);
        self.walk.turn_back(failure, self.index + 1);
    }

    /// A forward step before the pivot may be given up. A restored database is never guessed about.
    fn turns_back_by_time(&self) -> bool {
        self.walk.instance.direction == Direction::Forward
            && self.step.class == Class::Compensatable
            && self.walk.instance.stuck_reason.as_deref() != Some(RESTORED)
    }
}
