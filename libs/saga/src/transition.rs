//! The heart: what one input does to one saga. Pure, so that every rule is tested in microseconds.
//!
//! The guarantee: an outcome moves a saga only if it is the outcome of the outstanding command, and
//! the same input given twice changes nothing the second time.

use std::fmt;

use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    definition::{Definition, Saga},
    effect::{Effect, Entry, LogEntry},
    error::Unrunnable,
    inputs::At,
    instance::{Direction, Failure, Instance, Status, Wait},
    retry::Jitter,
    walk::Walk,
};

/// `STUCK`: the outstanding command's budget is over.
pub const TIME_IS_UP: &str = "TIME_IS_UP";
/// `STUCK`: too many sends in a row without an ack. Also the failure of a step that turned back so.
pub const NO_ACK: &str = "NO_ACK";
/// `STUCK`: the participant will not take the command.
pub const COMMAND_REJECTED: &str = "COMMAND_REJECTED";
/// `STUCK`: a participant says that the step was undone, and this saga does not know of it: one of
/// the databases was restored. Never guessed, never turned back by time.
pub const RESTORED: &str = "RESTORED";
/// `WAITING`: the participant has the command and has no outcome yet.
pub const OUTCOME_PENDING: &str = "OUTCOME_PENDING";

/// What can happen to a saga.
#[derive(Clone, Debug)]
pub enum Input<R> {
    /// A participant's event about a command. Whether it is an outcome, [`Saga::judge`] says.
    Outcome {
        /// The command it names itself, never the command that happened to be sent.
        command_id: String,
        /// What it says.
        reply: R,
    },
    /// The participant has the command. Need not be told for a first send.
    Acked {
        /// The command.
        command_id: String,
    },
    /// A send ended without an ack.
    SendFailed {
        /// The command.
        command_id: String,
        /// How.
        kind: SendFailure,
    },
    /// The participant knows a higher epoch.
    StaleEpoch {
        /// The command.
        command_id: String,
        /// The highest epoch the participant knows.
        highest: i64,
    },
    /// The participant says that the forward step was undone before it came.
    AlreadyUndone {
        /// The command.
        command_id: String,
    },
    /// `next_action_at` may have come.
    Timer,
    /// This engine takes the saga over from one that is gone.
    Resume,
    /// Turn back, if that is still possible.
    Cancel(Failure),
}

/// Why a send ended without an ack. None of them proves that the command did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendFailure {
    /// Unavailable, deadline exceeded, cancelled: send again.
    NoAck,
    /// No connection: send again soon, not counted.
    CannotConnect,
    /// An error that sending again will not change, for example an invalid argument.
    Rejected(String),
}

/// How an input was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It was news, and the saga took it in.
    Obeyed,
    /// An outcome of a command that is not outstanding: journalled, never obeyed.
    Late,
    /// Time has overtaken it: nothing changed.
    Ignored,
    /// A cancel that came after the pivot was saved as outstanding.
    TooLate,
}

/// A saga after an input, and what the engine must do to make it true.
#[must_use]
pub struct Transition<S: Saga> {
    /// The saga as it must be saved, before anything is sent.
    pub instance: Instance<S::Data>,
    /// In this order; at most one of them is a send, and it comes last.
    pub effects: Vec<Effect<S::Command, S::Local>>,
    /// To be written in the same transaction.
    pub log: Vec<LogEntry>,
    /// How the input was taken.
    pub judgement: Judgement,
}

// By hand: a derive would ask for `S: Debug`.
impl<S: Saga> fmt::Debug for Transition<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transition")
            .field("instance", &self.instance)
            .field("effects", &self.effects)
            .field("log", &self.log)
            .field("judgement", &self.judgement)
            .finish()
    }
}

/// Begins a saga: local steps run at once, the first command becomes outstanding.
pub fn start<S: Saga>(
    definition: &Definition<S>,
    saga_id: Uuid,
    data: S::Data,
    now: OffsetDateTime,
) -> Transition<S> {
    let instance = Instance {
        saga_id,
        status: Status::Running,
        stuck_reason: None,
        step: definition
            .steps()
            .first()
            .map(|step| step.name.to_owned())
            .unwrap_or_default(),
        direction: Direction::Forward,
        command_id: None,
        wait: Wait::Sent,
        waiting_reason: None,
        attempt: 0,
        asks: 0,
        epoch: 1,
        version: 1,
        data,
        learned: None,
        failure: None,
        started_at: now,
        step_since: now,
        next_action_at: None,
    };
    let mut walk = Walk::new(definition, instance, now, Jitter::NONE);
    walk.log(Entry::SagaStarted, format!("{} began", S::NAME));
    walk.forward_from(0);
    walk.end(Judgement::Obeyed)
}

/// What `input` does to `instance` at `now`.
pub fn advance<S: Saga>(
    definition: &Definition<S>,
    instance: &Instance<S::Data>,
    input: Input<S::Reply>,
    now: OffsetDateTime,
    jitter: Jitter,
) -> Result<Transition<S>, Unrunnable> {
    let (index, step) = definition
        .find(&instance.step)
        .ok_or_else(|| Unrunnable::StepUnknown {
            step: instance.step.clone(),
        })?;
    if instance.status.is_live() && instance.command_id.is_none() {
        return Err(Unrunnable::NothingOutstanding);
    }
    let walk = Walk::new(definition, instance.clone(), now, jitter);
    let mut at = At { walk, index, step };
    let judgement = match input {
        Input::Outcome { command_id, reply } => at.outcome(&command_id, &reply),
        Input::Acked { command_id } => at.acked(&command_id),
        Input::SendFailed { command_id, kind } => at.send_failed(&command_id, kind),
        Input::StaleEpoch {
            command_id,
            highest,
        } => at.stale_epoch(&command_id, highest)?,
        Input::AlreadyUndone { command_id } => at.already_undone(&command_id),
        Input::Timer => at.timer()?,
        Input::Resume => at.resume()?,
        Input::Cancel(failure) => at.cancel(failure),
    };
    let mut transition = at.walk.end(judgement);
    if transition.instance != *instance {
        transition.instance.version += 1;
    }
    Ok(transition)
}
