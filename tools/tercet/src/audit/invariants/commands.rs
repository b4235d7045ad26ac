//! Participants owe every command an outcome.

use std::time::Duration;

use super::Invariant;
use crate::audit::{Evidence, Finding, evidence::Guard};

pub(super) const DECIDED: Invariant = Invariant::new(
    "COMMANDS_ARE_DECIDED",
    "when a saga has ended, every command that a participant took has its outcome",
    decided,
);

fn decided(evidence: &Evidence, settle: Duration) -> Vec<Finding> {
    let owed = evidence.guards.iter().filter(|guard| owes_outcome(guard));
    let late = owed.filter_map(|guard| {
        let saga = evidence.sagas.get(&guard.saga_id)?;
        (!saga.is_open() && saga.age >= settle).then(|| {
            let sentence = format!(
                "{}: {} {} has no outcome, and its saga is {}",
                guard.service,
                guard.step,
                guard.direction.to_lowercase(),
                saga.status
            );
            Finding::about("saga", guard.saga_id, sentence).with("order", saga.order_id)
        })
    });
    late.collect()
}

// A forward command that its undo overtook owes none: the undo's outcome speaks for both.
fn owes_outcome(guard: &Guard) -> bool {
    !guard.is_decided && !guard.is_undone
}
