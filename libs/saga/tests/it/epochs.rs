//! Take-overs, and what participants remember that this saga does not.

use std::time::Duration;

use tercet_saga::{COMMAND_REJECTED, Input, Judgement, RESTORED, Unrunnable};

use crate::trip::{Command, Reply, at_buy_ticket, at_charge_card};

#[test]
fn a_take_over_raises_the_epoch_and_asks_again() {
    let mut saga = at_charge_card();
    saga.is_resumed().asks_again();
    assert_eq!(saga.instance().epoch, 2);
}

#[test]
fn an_epoch_this_row_knows_is_dropped_and_a_higher_one_is_outdone() {
    let mut saga = at_charge_card();
    let command_id = saga.instance().command_id.clone().unwrap();
    let stale = |highest| Input::StaleEpoch {
        command_id: command_id.clone(),
        highest,
    };
    assert_eq!(saga.hears(stale(1)), Judgement::Ignored);
    assert_eq!(saga.hears(stale(7)), Judgement::Obeyed);
    assert_eq!(saga.instance().epoch, 8);
    saga.asks_again()
        .answer(Reply::Done)
        .asks(Command::BuyTicket { seat: None });
    assert_eq!(
        saga.hears(stale(99)),
        Judgement::Ignored,
        "no longer outstanding"
    );
}

#[test]
fn a_step_undone_behind_our_back_is_never_guessed_and_never_turned_back_by_time() {
    let mut saga = at_charge_card();
    saga.already_undone().is_stuck(RESTORED).is_silent();
    saga.wait(Duration::from_hours(24)).is_stuck(RESTORED);
    saga.rejects(COMMAND_REJECTED).is_stuck(RESTORED);
    for _ in 0..20 {
        saga.no_ack().is_stuck(RESTORED);
    }
    saga.answer(Reply::Done).is_not_stuck();
}

#[test]
fn already_undone_for_a_command_that_is_not_outstanding_is_dropped() {
    let mut saga = at_charge_card();
    let command_id = saga.instance().command_id.clone().unwrap();
    saga.cancel("CANCELLED")
        .asks(Command::RefundCard { seat_known: false });
    assert_eq!(
        saga.hears(Input::AlreadyUndone { command_id }),
        Judgement::Ignored
    );
    saga.is_not_stuck();
}

#[test]
fn a_row_that_its_definition_cannot_continue_is_an_error_of_its_own() {
    use tercet_saga::{Definition, Jitter, Timing, advance};
    let saga = at_buy_ticket();
    let definition = Definition::<crate::trip::Trip>::build(Timing::default()).unwrap();
    let mut foreign = saga.instance().clone();
    foreign.step = "fly".to_owned();
    let error = advance(
        &definition,
        &foreign,
        Input::Timer,
        saga.now(),
        Jitter::NONE,
    )
    .unwrap_err();
    assert_eq!(
        error,
        Unrunnable::StepUnknown {
            step: "fly".to_owned()
        }
    );
    let mut idle = saga.instance().clone();
    idle.command_id = None;
    let error = advance(&definition, &idle, Input::Resume, saga.now(), Jitter::NONE).unwrap_err();
    assert_eq!(error, Unrunnable::NothingOutstanding);
}
