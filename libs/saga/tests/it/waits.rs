//! The three waits: no ack, acked without an outcome, time is up.

use std::time::Duration;

use tercet_saga::{
    COMMAND_REJECTED, Direction, Entry, Input, Judgement, NO_ACK, OUTCOME_PENDING, SendFailure,
    TIME_IS_UP, Timing, Wait, command_id,
    testing::{Conversation, Dialogue, Ending},
};

use crate::trip::{
    Command, Local, Reply, Trip, a_trip, at_buy_ticket, at_charge_card, at_refund_card,
};

/// Seconds from now until the timer fires.
fn due_in(saga: &Conversation<Trip>) -> i64 {
    (saga.instance().next_action_at.unwrap() - saga.now()).whole_seconds()
}

#[test]
fn a_silent_participant_is_asked_again_ever_more_rarely() {
    let mut saga = at_charge_card();
    let mut waits = vec![due_in(&saga)];
    for _ in 0..6 {
        saga.timer_fires().asks_again();
        waits.push(due_in(&saga));
    }
    assert_eq!(waits, [2, 4, 8, 16, 30, 30, 30]);
    assert_eq!(saga.instance().attempt, 0, "silence is not counted");
}

#[test]
fn a_step_that_starts_leaves_an_earlier_timer_alone_and_a_timer_too_early_only_moves() {
    let mut saga = Dialogue::start::<Trip>(a_trip());
    saga.asks(Command::BookHotel);
    let first = saga.instance().next_action_at;
    saga.wait(Duration::from_secs(1))
        .answer(Reply::Done)
        .asks(Command::CheckVisa);
    assert_eq!(
        saga.instance().next_action_at,
        first,
        "a happy step touches no index"
    );
    saga.timer_fires().is_silent();
    assert_eq!(due_in(&saga), 1, "moved to the step's own first try");
    saga.timer_fires().asks_again();
}

#[test]
fn a_step_that_starts_brings_a_later_timer_forward() {
    let mut saga = at_charge_card();
    for _ in 0..4 {
        saga.timer_fires().asks_again();
    }
    assert_eq!(due_in(&saga), 30);
    saga.answer(Reply::Done)
        .asks(Command::BuyTicket { seat: None });
    assert_eq!(due_in(&saga), 2);
}

#[test]
fn a_timer_that_is_not_due_or_of_an_ended_saga_changes_nothing() {
    use tercet_saga::{Input, Judgement};
    let mut saga = at_charge_card();
    let before = saga.instance().clone();
    assert_eq!(saga.hears(Input::Timer), Judgement::Ignored);
    assert_eq!(saga.instance(), &before);
}

#[test]
fn an_ack_is_written_once_and_then_asked_without_counting() {
    let mut saga = at_charge_card();
    saga.acks();
    assert_eq!(saga.instance().wait, Wait::Acked);
    assert_eq!(
        saga.instance().waiting_reason.as_deref(),
        Some(OUTCOME_PENDING)
    );
    let before = saga.instance().clone();
    saga.acks();
    assert_eq!(saga.instance(), &before);
    saga.timer_fires().asks_again().acks();
    assert_eq!(saga.instance().attempt, 0);
}

#[test]
fn information_shows_why_it_waits_and_never_ends_the_step() {
    let mut saga = at_refund_card();
    saga.answer(Reply::Delayed("REFUND_DELAYED")).is_silent();
    assert_eq!(
        saga.instance().waiting_reason.as_deref(),
        Some("REFUND_DELAYED")
    );
    saga.answer(Reply::NeedsAPerson("REFUND_REFUSED"))
        .is_stuck("REFUND_REFUSED")
        .is_silent();
    saga.acks().is_stuck("REFUND_REFUSED"); // an ack is no outcome
    saga.answer(Reply::Done)
        .is_not_stuck()
        .asks(Command::CancelHotel);
}

#[test]
fn sends_without_an_ack_are_counted_and_then_the_saga_turns_back() {
    let mut saga = Dialogue::start_with::<Trip>(
        a_trip(),
        Timing::default().budget("book-hotel", Duration::from_hours(1)),
    );
    saga.asks(Command::BookHotel);
    for _ in 0..11 {
        saga.no_ack().timer_fires().asks_again();
    }
    saga.no_ack().asks(Command::CancelHotel).answer(Reply::Done);
    saga.ends(Ending::Compensated { because: NO_ACK });
}

#[test]
fn an_ack_starts_the_count_anew() {
    let mut saga = at_charge_card();
    saga.no_ack().no_ack();
    assert_eq!(saga.instance().attempt, 2);
    saga.acks();
    assert_eq!(saga.instance().attempt, 0);
}

#[test]
fn without_an_ack_after_the_pivot_it_is_stuck_and_still_sent_and_an_ack_ends_that() {
    let mut saga = at_refund_card();
    for _ in 0..12 {
        saga.no_ack();
    }
    saga.is_stuck(NO_ACK).timer_fires().asks_again().no_ack();
    let alerts = saga
        .log()
        .iter()
        .filter(|line| line.entry == Entry::Stuck)
        .count();
    assert_eq!(alerts, 1, "the same reason is told once");
    assert!(
        due_in(&saga) > 30,
        "the cap is an hour where there is no way back"
    );
    saga.acks().is_not_stuck();
}

#[test]
fn while_the_participant_cannot_be_connected_to_tries_are_frequent_and_not_counted() {
    let mut saga = at_charge_card();
    for _ in 0..50 {
        saga.cannot_connect();
        assert!(due_in(&saga) <= 2);
        saga.timer_fires().asks_again();
        assert!(
            due_in(&saga) <= 2,
            "also if the process dies before the report of this send"
        );
    }
    assert_eq!(saga.instance().attempt, 0);
    let told = saga
        .log()
        .iter()
        .filter(|line| line.entry == Entry::Waiting)
        .count();
    assert_eq!(told, 1, "the same reason is told once");
}

#[test]
fn time_up_before_the_pivot_undoes_the_step_too() {
    let mut saga = at_charge_card();
    saga.acks().times_out();
    saga.asks(Command::RefundCard { seat_known: false })
        .answer(Reply::Done);
    saga.runs(Local::EraseNote)
        .asks(Command::CancelHotel)
        .answer(Reply::Done);
    saga.ends(Ending::Compensated {
        because: TIME_IS_UP,
    });
}

#[test]
fn the_timer_never_sleeps_past_the_budget() {
    let mut saga = Dialogue::start::<Trip>(a_trip());
    saga.asks(Command::BookHotel).acks().times_out();
    let spent = saga.now() - saga.instance().started_at;
    assert_eq!(spent.whole_seconds(), 30);
    saga.asks(Command::CancelHotel);
}

#[test]
fn the_budget_before_the_pivot_ends_a_step_that_has_time_of_its_own_left() {
    let timing = Timing {
        before_pivot: Some(Duration::from_secs(40)),
        ..Timing::default()
    };
    let mut saga = Dialogue::start_with::<Trip>(a_trip(), timing);
    saga.asks(Command::BookHotel)
        .wait(Duration::from_secs(1))
        .answer(Reply::Done);
    saga.asks(Command::CheckVisa)
        .times_out()
        .asks(Command::CancelHotel);
    let spent = saga.now() - saga.instance().started_at;
    assert_eq!(spent.whole_seconds(), 40);
}

#[test]
fn time_up_at_the_pivot_is_never_guessed() {
    let mut saga = at_buy_ticket();
    saga.times_out().is_stuck(TIME_IS_UP).asks_again();
    saga.cancel_is_too_late()
        .wait(Duration::from_hours(24))
        .is_stuck(TIME_IS_UP);
    saga.asks_again()
        .answer(Reply::Done)
        .is_not_stuck()
        .asks(Command::SendTicket);
}

#[test]
fn time_up_in_an_undo_is_stuck_and_still_asked() {
    let mut saga = at_refund_card();
    saga.acks().times_out().is_stuck(TIME_IS_UP).asks_again();
    saga.acks().is_stuck(TIME_IS_UP); // an ack does not end that
    saga.answer(Reply::Done)
        .is_not_stuck()
        .asks(Command::CancelHotel);
}

#[test]
fn a_rejected_step_before_the_pivot_is_undone_and_elsewhere_it_is_stuck() {
    let mut saga = at_charge_card();
    saga.rejects("UNIMPLEMENTED")
        .asks(Command::RefundCard { seat_known: false });
    saga.rejects("INVALID_ARGUMENT")
        .is_stuck(COMMAND_REJECTED)
        .timer_fires()
        .asks_again();

    let mut saga = at_buy_ticket();
    saga.rejects("PERMISSION_DENIED").is_stuck(COMMAND_REJECTED);
    saga.answer(Reply::Done).is_not_stuck();
}

#[test]
fn a_saga_that_waits_for_weeks_keeps_a_timeline_one_can_read() {
    let mut saga = at_refund_card();
    saga.acks().wait(Duration::from_hours(336));
    assert!(saga.log().len() < 60, "{} lines", saga.log().len());
}

/// Whatever comes back about a command that is not outstanding any more: an ack, a lost send, an
/// epoch, an undone step. Each takes its time on the way, and finds the saga elsewhere.
#[test]
fn what_comes_back_about_an_earlier_command_changes_nothing() {
    let mut saga = at_charge_card();
    let command_id = || command_id(saga.instance().saga_id, "book-hotel", Direction::Forward);
    let late = [
        Input::Acked {
            command_id: command_id(),
        },
        Input::SendFailed {
            command_id: command_id(),
            kind: SendFailure::NoAck,
        },
        Input::SendFailed {
            command_id: command_id(),
            kind: SendFailure::Rejected("no".to_owned()),
        },
        Input::StaleEpoch {
            command_id: command_id(),
            highest: 9,
        },
        Input::AlreadyUndone {
            command_id: command_id(),
        },
    ];
    let before = saga.instance().clone();
    for input in late {
        assert_eq!(saga.hears(input), Judgement::Ignored);
        assert_eq!(*saga.instance(), before);
    }
}
