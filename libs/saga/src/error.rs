//! What can be wrong with a definition, and with a saved saga that a definition is to continue.

/// A list of steps that is no saga. Each variant names the rule and the step that breaks it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// Versions count from 1.
    #[error("saga {saga}: the version must be 1 or more")]
    VersionZero {
        /// The saga.
        saga: &'static str,
    },
    /// A saga does something.
    #[error("saga {saga}: there must be at least one step")]
    NoSteps {
        /// The saga.
        saga: &'static str,
    },
    /// Names are parts of command ids.
    #[error("{name:?}: names must be kebab-case and at most 63 characters")]
    BadName {
        /// The saga or step.
        name: &'static str,
    },
    /// A step is found by its name.
    #[error("step {step}: the name is used twice")]
    NameTwice {
        /// The second step of that name.
        step: &'static str,
    },
    /// There is one point of no return.
    #[error("step {second}: a second pivot; the first is {first}")]
    TwoPivots {
        /// The first pivot.
        first: &'static str,
        /// The second pivot.
        second: &'static str,
    },
    /// What stands before the pivot must be possible to undo.
    #[error("step {step}: retriable, but stands before the pivot {pivot}")]
    RetriableBeforePivot {
        /// The step.
        step: &'static str,
        /// The pivot after it.
        pivot: &'static str,
    },
    /// What stands after the point of no return is never undone.
    #[error("step {step}: compensatable, but stands after {boundary}, where nothing is undone")]
    CompensatableTooLate {
        /// The step.
        step: &'static str,
        /// The pivot or retriable step before it.
        boundary: &'static str,
    },
    /// A compensatable step says how it is undone, or that there is nothing to undo.
    #[error(
        "step {step}: compensatable, but no undo is given; say .undo(..) or .nothing_to_undo()"
    )]
    NoUndo {
        /// The step.
        step: &'static str,
    },
    /// A pivot or retriable step is never undone.
    #[error("step {step}: has an undo, but is the pivot or stands after it")]
    UndoTooLate {
        /// The step.
        step: &'static str,
    },
    /// A budget was set for a step that is not there.
    #[error("a budget is set for {step:?}, which is no step of this saga")]
    BudgetForNoStep {
        /// The name given.
        step: String,
    },
    /// A wait that would never end or never begin.
    #[error("timing: {setting} must be more than zero")]
    ZeroWait {
        /// The setting.
        setting: &'static str,
    },
}

impl DefinitionError {
    /// Never: a definition is wrong until its code is changed.
    pub fn is_transient(&self) -> bool {
        false
    }
}

/// A saved saga that this definition cannot continue. It is set aside alone; others go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unrunnable {
    /// The saga stands at a step that the definition does not have.
    #[error("the saga stands at step {step:?}, which its definition does not have")]
    StepUnknown {
        /// The step of the row.
        step: String,
    },
    /// A live saga always waits for an answer.
    #[error("the saga is live but has no outstanding command")]
    NothingOutstanding,
    /// The step is done inside a transaction and never waits.
    #[error("the saga waits for step {step:?}, which has no command in that direction")]
    NoSuchCommand {
        /// The step of the row.
        step: String,
    },
}

impl Unrunnable {
    /// Never: the row or the program must change first.
    pub fn is_transient(&self) -> bool {
        false
    }
}
