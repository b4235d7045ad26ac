//! What a transition asks of the engine, and what it tells the people who read timelines.

use crate::{
    instance::{Direction, Status},
    words::words,
};

/// What the engine must do, over the saga's commands and local steps. The timer is no effect: it
/// is `instance.next_action_at`.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<C, L> {
    /// Run inside the transaction that saves the transition, in the order given.
    RunLocal(L),
    /// Send *after* that transaction has committed. Losing it is harmless: the timer sends again.
    Send(SendCommand<C>),
    /// The saga has ended.
    Finish(Status),
}

/// A command on its way to a participant.
#[derive(Clone, Debug, PartialEq)]
pub struct SendCommand<C> {
    /// The idempotency key: the same for every send of this command.
    pub command_id: String,
    /// The step.
    pub step: &'static str,
    /// Whether the step is done or undone.
    pub direction: Direction,
    /// The epoch it is sent under.
    pub epoch: i64,
    /// Sent before, as far as this saga knows.
    pub again: bool,
    /// What to do.
    pub command: C,
}

/// One line of a saga's timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// What happened.
    pub entry: Entry,
    /// The step it happened to.
    pub step: String,
    /// The direction at that moment.
    pub direction: Direction,
    /// The command it is about, if any.
    pub command_id: Option<String>,
    /// A sentence for people.
    pub detail: String,
}

impl LogEntry {
    /// A detail longer than this is cut: participants' texts end up in it.
    pub const DETAIL_CHARS_MAX: usize = 600;
}

words! {
    /// What a line of the timeline tells.
    Entry, "timeline entry" {
        /// The saga began.
        SagaStarted = "SAGA_STARTED",
        /// A step's command became outstanding.
        StepStarted = "STEP_STARTED",
        /// An undo's command became outstanding.
        UndoStarted = "UNDO_STARTED",
        /// A step in the saga's own database is done.
        LocalStepDone = "LOCAL_STEP_DONE",
        /// An undo in the saga's own database is done.
        LocalUndoDone = "LOCAL_UNDO_DONE",
        /// The step leaves nothing behind.
        NothingToUndo = "NOTHING_TO_UNDO",
        /// The step took effect.
        StepSucceeded = "STEP_SUCCEEDED",
        /// The step is known to have left no effect.
        StepRefused = "STEP_REFUSED",
        /// Nobody knows whether the step took effect, and it is no longer waited for.
        StepUnknown = "STEP_UNKNOWN",
        /// The undo is done.
        UndoSucceeded = "UNDO_SUCCEEDED",
        /// Somebody asked for the saga to be cancelled.
        CancelRequested = "CANCEL_REQUESTED",
        /// From here on the saga undoes.
        TurnedBack = "TURNED_BACK",
        /// The wait for the outstanding command has a new reason.
        Waiting = "WAITING",
        /// The outstanding command was sent again.
        AskedAgain = "ASKED_AGAIN",
        /// A person must look.
        Stuck = "STUCK",
        /// A person need not look any longer.
        Unstuck = "UNSTUCK",
        /// An outcome of a command that is not outstanding. Written down, never obeyed.
        LateOutcome = "LATE_OUTCOME",
        /// Another engine took the saga over.
        Resumed = "RESUMED",
        /// A participant knew a higher epoch than this row.
        EpochRaised = "EPOCH_RAISED",
        /// Every step is done.
        Completed = "COMPLETED",
        /// Everything is undone.
        Compensated = "COMPENSATED",
    }
}
