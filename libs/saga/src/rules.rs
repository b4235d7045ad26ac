//! The rules a list of steps must keep to be a saga, and the hash that names it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::{
    definition::{Action, Class, Saga, Step, Undo},
    error::DefinitionError,
};

/// Names are kebab-case and unique, there is a step, and versions count from 1.
pub(crate) fn names<S: Saga>(steps: &[Step<S>]) -> Result<(), DefinitionError> {
    if S::VERSION == 0 {
        return Err(DefinitionError::VersionZero { saga: S::NAME });
    }
    if steps.is_empty() {
        return Err(DefinitionError::NoSteps { saga: S::NAME });
    }
    let names = std::iter::once(S::NAME).chain(steps.iter().map(|step| step.name));
    if let Some(name) = names.into_iter().find(|name| !is_kebab_case(name)) {
        return Err(DefinitionError::BadName { name });
    }
    for (at, step) in steps.iter().enumerate() {
        if steps
            .iter()
            .take(at)
            .any(|earlier| earlier.name == step.name)
        {
            return Err(DefinitionError::NameTwice { step: step.name });
        }
    }
    Ok(())
}

/// Names become parts of command ids (`{saga}:{step}:{direction}`), so they may hold no colon.
fn is_kebab_case(name: &str) -> bool {
    let word = |w: &str| {
        !w.is_empty()
            && w.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    name.len() <= 63 && name.split('-').all(word)
}

/// Compensatable steps, then at most one pivot, then retriable steps.
pub(crate) fn order<S: Saga>(steps: &[Step<S>]) -> Result<(), DefinitionError> {
    let mut pivot = None;
    let mut retriable = None;
    for step in steps {
        match (step.class, pivot, retriable) {
            (Class::Pivot, Some(first), _) => {
                return Err(DefinitionError::TwoPivots {
                    first,
                    second: step.name,
                });
            }
            (Class::Pivot, None, Some(early)) => {
                return Err(DefinitionError::RetriableBeforePivot {
                    step: early,
                    pivot: step.name,
                });
            }
            (Class::Compensatable, Some(boundary), _)
            | (Class::Compensatable, None, Some(boundary)) => {
                return Err(DefinitionError::CompensatableTooLate {
                    step: step.name,
                    boundary,
                });
            }
            (Class::Pivot, None, None) => pivot = Some(step.name),
            (Class::Retriable, ..) => retriable = retriable.or(Some(step.name)),
            (Class::Compensatable, None, None) => {}
        }
    }
    Ok(())
}

/// Every compensatable step says how it is undone, and no other has an undo.
pub(crate) fn undos<S: Saga>(steps: &[Step<S>]) -> Result<(), DefinitionError> {
    for step in steps {
        match (step.class, &step.undo) {
            (Class::Compensatable, None) => {
                return Err(DefinitionError::NoUndo { step: step.name });
            }
            (Class::Pivot | Class::Retriable, Some(_)) => {
                return Err(DefinitionError::UndoTooLate { step: step.name });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Changes whenever a running saga would be continued by other steps than it began with.
pub(crate) fn hash<S: Saga>(steps: &[Step<S>]) -> String {
    let mut digest = Sha256::new();
    for step in steps {
        let forward = kind(&step.forward);
        let undo = match &step.undo {
            None => "-",
            Some(Undo::Nothing) => "nothing",
            Some(Undo::By(action)) => kind(action),
        };
        digest.update(format!("{}|{:?}|{forward}|{undo}\n", step.name, step.class));
    }
    let digest = digest.finalize();
    let mut hash = String::with_capacity(32);
    for byte in digest.iter().take(16) {
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

fn kind<S: Saga>(action: &Action<S>) -> &'static str {
    match action {
        Action::Command(_) => "command",
        Action::Local(_) => "local",
    }
}
