//! How a saga ends, and what is undone on the way.

use tercet_saga::{
    Direction, Entry, Failure,
    testing::{Dialogue, Ending},
};

use crate::trip::{
    Command, Local, Reply, Trip, a_trip, at_buy_ticket, at_charge_card, at_refund_card,
};

#[test]
fn every_step_done_ends_it_completed() {
    let mut saga = at_buy_ticket();
    saga.answer(Reply::Done).asks(Command::SendTicket);
    saga.answer(Reply::Done).runs(Local::CloseTrip);
    saga.ends(Ending::Completed);
    let entries: Vec<_> = saga.log().iter().map(|line| line.entry).collect();
    assert_eq!(entries.first(), Some(&Entry::SagaStarted));
    assert_eq!(entries.last(), Some(&Entry::Completed));
    assert_eq!(
        entries
            .iter()
            .filter(|entry| **entry == Entry::StepSucceeded)
            .count(),
        5
    );
}

#[test]
fn a_refused_first_step_leaves_nothing_to_undo() {
    let mut saga = Dialogue::start::<Trip>(a_trip());
    saga.asks(Command::BookHotel)
        .answer(Reply::Refused("NO_ROOM"))
        .runs(Local::GiveUpTrip);
    saga.ends(Ending::Compensated { because: "NO_ROOM" });
}

#[test]
fn a_refused_step_is_not_undone_but_the_steps_before_it_are_in_reverse() {
    let mut saga = at_charge_card();
    saga.answer(Reply::Refused("CARD_DECLINED"))
        .runs(Local::EraseNote);
    saga.asks(Command::CancelHotel)
        .answer(Reply::Done)
        .runs(Local::GiveUpTrip);
    saga.ends(Ending::Compensated {
        because: "CARD_DECLINED",
    });
}

#[test]
fn a_refused_pivot_turns_back() {
    let mut saga = at_refund_card();
    saga.answer(Reply::Done)
        .runs(Local::EraseNote)
        .asks(Command::CancelHotel);
    saga.answer(Reply::Done);
    saga.ends(Ending::Compensated {
        because: "SOLD_OUT",
    });
}

#[test]
fn what_a_reply_taught_reaches_later_steps_and_never_an_undo() {
    let mut saga = at_charge_card();
    saga.answer(Reply::Seat("12A")).asks(Command::BuyTicket {
        seat: Some("12A".to_owned()),
    });
    saga.answer(Reply::Refused("SOLD_OUT"))
        .asks(Command::RefundCard { seat_known: false });
}

#[test]
fn a_late_foreign_or_repeated_outcome_changes_nothing_and_is_written_down() {
    let mut saga = at_charge_card();
    saga.answer_late("book-hotel", Direction::Forward, Reply::Refused("NO_ROOM"))
        .is_silent();
    saga.answer_late("no-such-step", Direction::Forward, Reply::Done)
        .is_silent();
    saga.answer(Reply::Done)
        .asks(Command::BuyTicket { seat: None });
    saga.answer_late("charge-card", Direction::Forward, Reply::Done)
        .is_silent();
    saga.answer_late("charge-card", Direction::Backward, Reply::Done)
        .is_silent();
    assert_eq!(
        saga.log()
            .iter()
            .filter(|line| line.entry == Entry::LateOutcome)
            .count(),
        4
    );
}

#[test]
fn an_ended_saga_writes_late_outcomes_down_and_stays_as_it_is() {
    let mut saga = Dialogue::start::<Trip>(a_trip());
    saga.asks(Command::BookHotel)
        .answer(Reply::Refused("NO_ROOM"));
    saga.answer_late("book-hotel", Direction::Forward, Reply::Done);
    saga.ends(Ending::Compensated { because: "NO_ROOM" });
}

#[test]
fn an_undo_or_a_step_after_the_pivot_that_is_refused_waits_for_a_person_and_for_its_outcome() {
    let mut saga = at_refund_card();
    saga.answer(Reply::Refused("ACCOUNT_CLOSED"))
        .is_stuck("ACCOUNT_CLOSED")
        .is_silent();
    saga.answer(Reply::Done)
        .is_not_stuck()
        .asks(Command::CancelHotel);

    let mut saga = at_buy_ticket();
    saga.answer(Reply::Done).asks(Command::SendTicket);
    saga.answer(Reply::Refused("NO_ADDRESS"))
        .is_stuck("NO_ADDRESS");
    saga.answer(Reply::Done).ends(Ending::Completed);
}

#[test]
fn texts_of_participants_are_cut_to_fit_a_row() {
    let mut saga = at_charge_card();
    saga.cancel(&"X".repeat(10_000));
    let failure = saga.instance().failure.as_ref().unwrap();
    assert_eq!(failure.reason.len(), Failure::REASON_CHARS_MAX);
    assert!(saga.log().iter().all(|line| line.detail.len() <= 600));
}
