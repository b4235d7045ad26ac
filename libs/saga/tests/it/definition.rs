//! The checks that a list of steps must pass.

use std::time::Duration;

use tercet_saga::{Class, Definition, DefinitionError, Failure, Saga, Step, Timing, Verdict};

use crate::trip::Trip;

macro_rules! saga {
    ($name:ident, $version:literal, [$($step:expr),* $(,)?]) => {
        struct $name;
        impl Saga for $name {
            const NAME: &'static str = "tried";
            const VERSION: u32 = $version;
            type Data = ();
            type Command = &'static str;
            type Local = &'static str;
            type Reply = ();
            fn steps() -> Vec<Step<Self>> { vec![$($step),*] }
            fn judge(_: &()) -> Verdict { Verdict::Succeeded }
            fn compensated(_: &(), _: &Failure) -> Option<&'static str> { None }
        }
    };
}

/// The rule that the steps given break.
macro_rules! broken {
    ([$($step:expr),* $(,)?]) => {{
        saga!(Tried, 1, [$($step),*]);
        Definition::<Tried>::build(Timing::default()).unwrap_err()
    }};
}

#[test]
fn at_most_one_pivot() {
    let error = broken!([Step::pivot("a", |()| "a"), Step::pivot("b", |()| "b")]);
    assert_eq!(
        error,
        DefinitionError::TwoPivots {
            first: "a",
            second: "b"
        }
    );
    assert_eq!(error.to_string(), "step b: a second pivot; the first is a");
}

#[test]
fn only_compensatable_steps_before_the_pivot() {
    let error = broken!([Step::retriable("a", |()| "a"), Step::pivot("b", |()| "b")]);
    assert_eq!(
        error,
        DefinitionError::RetriableBeforePivot {
            step: "a",
            pivot: "b"
        }
    );
}

#[test]
fn only_retriable_steps_after_the_pivot() {
    let error = broken!([
        Step::pivot("a", |()| "a"),
        Step::compensatable("b", |()| "b").nothing_to_undo()
    ]);
    assert_eq!(
        error,
        DefinitionError::CompensatableTooLate {
            step: "b",
            boundary: "a"
        }
    );
    let error = broken!([
        Step::retriable_local("a", |()| "a"),
        Step::compensatable("b", |()| "b").nothing_to_undo()
    ]);
    assert_eq!(
        error,
        DefinitionError::CompensatableTooLate {
            step: "b",
            boundary: "a"
        }
    );
}

#[test]
fn a_compensatable_step_says_how_it_is_undone() {
    let error = broken!([Step::compensatable("a", |()| "a")]);
    assert_eq!(error, DefinitionError::NoUndo { step: "a" });
    let error = broken!([Step::pivot("a", |()| "a").undo(|()| "b")]);
    assert_eq!(error, DefinitionError::UndoTooLate { step: "a" });
}

#[test]
fn names_are_unique_and_fit_into_command_ids() {
    let error = broken!([Step::pivot("a", |()| "a"), Step::retriable("a", |()| "a")]);
    assert_eq!(error, DefinitionError::NameTwice { step: "a" });
    let error = broken!([Step::pivot("a:b", |()| "a")]);
    assert_eq!(error, DefinitionError::BadName { name: "a:b" });
    let error = broken!([Step::pivot("", |()| "a")]);
    assert_eq!(error, DefinitionError::BadName { name: "" });
    let error = broken!([Step::pivot("Commit", |()| "a")]);
    assert_eq!(error, DefinitionError::BadName { name: "Commit" });
}

#[test]
fn there_is_a_step_and_a_version() {
    assert_eq!(broken!([]), DefinitionError::NoSteps { saga: "tried" });
    saga!(Zero, 0, [Step::pivot("a", |()| "a")]);
    let error = Definition::<Zero>::build(Timing::default()).unwrap_err();
    assert_eq!(error, DefinitionError::VersionZero { saga: "tried" });
}

#[test]
fn waits_are_checked_against_the_steps() {
    let timing = Timing::default().budget("no-such-step", Duration::from_secs(1));
    let error = Definition::<Trip>::build(timing).unwrap_err();
    assert_eq!(
        error,
        DefinitionError::BudgetForNoStep {
            step: "no-such-step".to_owned()
        }
    );
    let timing = Timing {
        first_try: Duration::ZERO,
        ..Timing::default()
    };
    let error = Definition::<Trip>::build(timing).unwrap_err();
    assert_eq!(
        error,
        DefinitionError::ZeroWait {
            setting: "first_try"
        }
    );
}

#[test]
fn the_hash_follows_names_classes_and_order_and_nothing_else() {
    macro_rules! hash {
        ([$($step:expr),* $(,)?]) => {{
            saga!(Tried, 1, [$($step),*]);
            Definition::<Tried>::build(Timing::default()).unwrap().id().hash
        }};
    }
    let base = hash!([
        Step::retriable("a", |()| "a"),
        Step::retriable("b", |()| "b")
    ]);
    let same = hash!([
        Step::retriable("a", |()| "other").budget(Duration::from_secs(1)),
        Step::retriable("b", |()| "b"),
    ]);
    assert_eq!(base, same);
    assert_ne!(
        base,
        hash!([
            Step::retriable("b", |()| "b"),
            Step::retriable("a", |()| "a")
        ])
    );
    assert_ne!(
        base,
        hash!([
            Step::retriable("a", |()| "a"),
            Step::retriable("c", |()| "c")
        ])
    );
    assert_ne!(
        base,
        hash!([Step::pivot("a", |()| "a"), Step::retriable("b", |()| "b")])
    );
}

#[test]
fn the_outline_is_the_table_of_contents() {
    let definition = Definition::<Trip>::build(Timing::default()).unwrap();
    let outline: Vec<_> = definition.outline().collect();
    assert_eq!(outline.len(), 7);
    assert_eq!(outline[4], ("buy-ticket", Class::Pivot));
    assert_eq!(definition.id().version, 1);
}
