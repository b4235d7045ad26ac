//! Cancelling: the direction flips at once, or not at all.

use tercet_saga::{
    Direction, Input, Judgement,
    testing::{Dialogue, Ending},
};

use crate::trip::{
    Command, Local, Reply, Trip, a_trip, at_buy_ticket, at_charge_card, at_refund_card,
};

#[test]
fn before_the_pivot_the_outstanding_step_counts_as_unknown() {
    let mut saga = at_charge_card();
    saga.cancel("CANCELLED_BY_CUSTOMER")
        .asks(Command::RefundCard { seat_known: false });
    saga.answer_late("charge-card", Direction::Forward, Reply::Done)
        .is_silent();
    saga.answer(Reply::Done)
        .runs(Local::EraseNote)
        .asks(Command::CancelHotel)
        .answer(Reply::Done);
    saga.ends(Ending::Compensated {
        because: "CANCELLED_BY_CUSTOMER",
    });
}

#[test]
fn a_refusal_that_comes_after_the_cancel_is_late() {
    let mut saga = Dialogue::start::<Trip>(a_trip());
    saga.asks(Command::BookHotel)
        .cancel("CANCELLED_BY_CUSTOMER")
        .asks(Command::CancelHotel);
    saga.answer_late("book-hotel", Direction::Forward, Reply::Refused("NO_ROOM"));
    saga.answer(Reply::Done).ends(Ending::Compensated {
        because: "CANCELLED_BY_CUSTOMER",
    });
}

#[test]
fn once_the_pivot_is_outstanding_it_is_too_late() {
    let mut saga = at_buy_ticket();
    saga.cancel_is_too_late().is_silent();
    saga.answer(Reply::Done)
        .asks(Command::SendTicket)
        .cancel_is_too_late();
    saga.answer(Reply::Done).ends(Ending::Completed);
}

#[test]
fn a_saga_that_compensates_or_has_ended_ignores_it() {
    use tercet_saga::Failure;
    let mut saga = at_refund_card();
    let cancel = || Input::Cancel(Failure::new("CANCELLED", "cancelled"));
    assert_eq!(saga.hears(cancel()), Judgement::Ignored);
    saga.answer(Reply::Done)
        .asks(Command::CancelHotel)
        .answer(Reply::Done);
    assert_eq!(saga.hears(cancel()), Judgement::Ignored);
    saga.ends(Ending::Compensated {
        because: "SOLD_OUT",
    });
}
