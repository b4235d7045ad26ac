//! What a saga is made of: the [`Saga`] trait, its [`Step`]s, and the checks that a list of steps
//! must pass before anything runs.

use std::{any::type_name, fmt, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    error::DefinitionError,
    instance::{Direction, Failure},
    retry::Timing,
    rules,
};

/// A saga: its data, its words, and its steps in order. One small pure function per word.
pub trait Saga: Send + Sync + 'static + Sized {
    /// Kebab-case, unique among the sagas of one database, for example `place-order`.
    const NAME: &'static str;
    /// Raised whenever steps change, so that a running saga is never continued by other steps.
    const VERSION: u32;

    /// Ids and sums that the steps need; chosen before the start and saved with the saga.
    type Data: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;
    /// What is sent to participants.
    type Command: Clone + fmt::Debug + PartialEq + Send;
    /// What is done in the saga's own database, inside the transaction of a transition.
    type Local: Clone + fmt::Debug + PartialEq + Send;
    /// What participants answer.
    type Reply: Clone + fmt::Debug + Send;

    /// The table of contents, in the order in which the steps run.
    fn steps() -> Vec<Step<Self>>;

    /// What a reply means. A reply that says an undo was done is [`Verdict::Succeeded`].
    fn judge(reply: &Self::Reply) -> Verdict;

    /// Keeps something from a forward step's reply for the *forward* functions of later steps.
    /// Undo functions never see it: they are given the data as it was at the start, because a
    /// step that must be undone may never have answered.
    fn learn(_data: &mut Self::Data, _reply: &Self::Reply) {}

    /// Runs in the transaction that ends the saga compensated.
    fn compensated(data: &Self::Data, failure: &Failure) -> Option<Self::Local>;

    /// How long all steps before the pivot may take together before the saga turns back.
    fn budget_before_pivot() -> Duration {
        Duration::from_mins(8)
    }
}

/// What a reply means to the saga.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Verdict {
    /// The step took effect, or the undo is done.
    Succeeded,
    /// The step is known to have left no effect: the saga turns back.
    Refused(Failure),
    /// Not an outcome: the command is still being worked on.
    Info(Notice),
}

/// What a participant tells before it has an outcome. Reasons are `UPPER_SNAKE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The work goes on; this is why it takes long.
    Waiting(String),
    /// The work will not end by itself: a person must look.
    Stuck(String),
}

/// Where a step stands to the point of no return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Can be undone; stands before the pivot.
    Compensatable,
    /// The point of no return: once it has succeeded the saga only goes forward.
    Pivot,
    /// Comes after the pivot; asked until it is done.
    Retriable,
}

/// One step: how to do it and, before the pivot, how to undo it.
pub struct Step<S: Saga> {
    pub(crate) name: &'static str,
    pub(crate) class: Class,
    pub(crate) forward: Action<S>,
    pub(crate) undo: Option<Undo<S>>,
    pub(crate) budget: Option<Duration>,
}

pub(crate) enum Action<S: Saga> {
    Command(fn(&S::Data) -> S::Command),
    Local(fn(&S::Data) -> S::Local),
}

pub(crate) enum Undo<S: Saga> {
    Nothing,
    By(Action<S>),
}

impl<S: Saga> Step<S> {
    /// A command before the pivot. Say how it is undone, or that there is nothing to undo.
    pub fn compensatable(name: &'static str, forward: fn(&S::Data) -> S::Command) -> Self {
        Self::new(name, Class::Compensatable, Action::Command(forward))
    }

    /// A local step before the pivot.
    pub fn compensatable_local(name: &'static str, forward: fn(&S::Data) -> S::Local) -> Self {
        Self::new(name, Class::Compensatable, Action::Local(forward))
    }

    /// The command that cannot be taken back.
    pub fn pivot(name: &'static str, forward: fn(&S::Data) -> S::Command) -> Self {
        Self::new(name, Class::Pivot, Action::Command(forward))
    }

    /// A command after the pivot.
    pub fn retriable(name: &'static str, forward: fn(&S::Data) -> S::Command) -> Self {
        Self::new(name, Class::Retriable, Action::Command(forward))
    }

    /// A local step after the pivot.
    pub fn retriable_local(name: &'static str, forward: fn(&S::Data) -> S::Local) -> Self {
        Self::new(name, Class::Retriable, Action::Local(forward))
    }

    fn new(name: &'static str, class: Class, forward: Action<S>) -> Self {
        Self {
            name,
            class,
            forward,
            undo: None,
            budget: None,
        }
    }

    /// Undone by a command.
    #[must_use]
    pub fn undo(self, backward: fn(&S::Data) -> S::Command) -> Self {
        Self {
            undo: Some(Undo::By(Action::Command(backward))),
            ..self
        }
    }

    /// Undone in the saga's own database.
    #[must_use]
    pub fn undo_local(self, backward: fn(&S::Data) -> S::Local) -> Self {
        Self {
            undo: Some(Undo::By(Action::Local(backward))),
            ..self
        }
    }

    /// The step leaves nothing behind that would have to be undone.
    #[must_use]
    pub fn nothing_to_undo(self) -> Self {
        Self {
            undo: Some(Undo::Nothing),
            ..self
        }
    }

    /// How long the step may be outstanding: then the saga turns back if the step stands before
    /// the pivot, and is marked stuck (and still asked) if not. [`Timing`] can override it.
    #[must_use]
    pub fn budget(self, budget: Duration) -> Self {
        Self {
            budget: Some(budget),
            ..self
        }
    }
}

impl<S: Saga> fmt::Debug for Step<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("name", &self.name)
            .field("class", &self.class)
            .finish_non_exhaustive()
    }
}

/// A checked list of steps with its waits. Nothing runs without one.
pub struct Definition<S: Saga> {
    steps: Vec<Step<S>>,
    hash: String,
    timing: Timing,
}

/// Name, version and hash of a definition: what a row must carry to be continued by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionId {
    /// [`Saga::NAME`].
    pub kind: String,
    /// [`Saga::VERSION`].
    pub version: u32,
    /// Over names, classes and order of the steps.
    pub hash: String,
}

impl<S: Saga> Definition<S> {
    /// Checks the steps of `S` against the rules of sagas, and `timing` against the steps.
    pub fn build(timing: Timing) -> Result<Self, DefinitionError> {
        let steps = S::steps();
        rules::names::<S>(&steps)?;
        rules::order(&steps)?;
        rules::undos(&steps)?;
        timing.check(&steps.iter().map(|step| step.name).collect::<Vec<_>>())?;
        Ok(Self {
            hash: rules::hash(&steps),
            steps,
            timing,
        })
    }

    /// What rows of this definition carry.
    pub fn id(&self) -> DefinitionId {
        DefinitionId {
            kind: S::NAME.to_owned(),
            version: S::VERSION,
            hash: self.hash.clone(),
        }
    }

    /// Names and classes of the steps, in order.
    pub fn outline(&self) -> impl Iterator<Item = (&'static str, Class)> {
        self.steps.iter().map(|step| (step.name, step.class))
    }

    /// The waits in force.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    pub(crate) fn steps(&self) -> &[Step<S>] {
        &self.steps
    }

    pub(crate) fn find(&self, name: &str) -> Option<(usize, &Step<S>)> {
        self.steps
            .iter()
            .enumerate()
            .find(|(_, step)| step.name == name)
    }

    /// How long `step` may be outstanding in `direction`.
    pub(crate) fn budget(&self, step: &Step<S>, direction: Direction) -> Duration {
        match direction {
            Direction::Forward => self.timing.budget_of(step.name).or(step.budget),
            Direction::Backward => None,
        }
        .unwrap_or(self.timing.budget_default)
    }

    /// How long all steps before the pivot may take together.
    pub(crate) fn budget_before_pivot(&self) -> Duration {
        self.timing
            .before_pivot
            .unwrap_or_else(S::budget_before_pivot)
    }
}

impl<S: Saga> fmt::Debug for Definition<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(type_name::<Self>())
            .field("steps", &self.steps)
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}
