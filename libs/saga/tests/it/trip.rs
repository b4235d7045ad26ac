//! The saga that the tests talk to: one step of every kind.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tercet_saga::{Failure, Notice, Saga, Step, Verdict};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Data {
    pub(crate) seat: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    BookHotel,
    CancelHotel,
    CheckVisa,
    ChargeCard,
    RefundCard { seat_known: bool },
    BuyTicket { seat: Option<String> },
    SendTicket,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Local {
    WriteNote,
    EraseNote,
    CloseTrip,
    GiveUpTrip,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reply {
    Done,
    Seat(&'static str),
    Refused(&'static str),
    Delayed(&'static str),
    NeedsAPerson(&'static str),
}

pub(crate) struct Trip;

impl Saga for Trip {
    const NAME: &'static str = "book-a-trip";
    const VERSION: u32 = 1;
    type Data = Data;
    type Command = Command;
    type Local = Local;
    type Reply = Reply;

    fn steps() -> Vec<Step<Self>> {
        vec![
            Step::compensatable("book-hotel", |_| Command::BookHotel)
                .undo(|_| Command::CancelHotel)
                .budget(Duration::from_secs(30)),
            Step::compensatable("check-visa", |_| Command::CheckVisa).nothing_to_undo(),
            Step::compensatable_local("write-note", |_| Local::WriteNote)
                .undo_local(|_| Local::EraseNote),
            Step::compensatable("charge-card", |_| Command::ChargeCard).undo(refund_card),
            Step::pivot("buy-ticket", buy_ticket),
            Step::retriable("send-ticket", |_| Command::SendTicket),
            Step::retriable_local("close-trip", |_| Local::CloseTrip),
        ]
    }

    fn judge(reply: &Reply) -> Verdict {
        match *reply {
            Reply::Done | Reply::Seat(_) => Verdict::Succeeded,
            Reply::Refused(reason) => Verdict::Refused(Failure {
                detail: json!({ "why": reason }),
                ..Failure::new(reason, "refused")
            }),
            Reply::Delayed(why) => Verdict::Info(Notice::Waiting(why.to_owned())),
            Reply::NeedsAPerson(why) => Verdict::Info(Notice::Stuck(why.to_owned())),
        }
    }

    fn learn(data: &mut Data, reply: &Reply) {
        if let Reply::Seat(seat) = *reply {
            data.seat = Some(seat.to_owned());
        }
    }

    fn compensated(_: &Data, _: &Failure) -> Option<Local> {
        Some(Local::GiveUpTrip)
    }
}

fn buy_ticket(data: &Data) -> Command {
    Command::BuyTicket {
        seat: data.seat.clone(),
    }
}

fn refund_card(data: &Data) -> Command {
    Command::RefundCard {
        seat_known: data.seat.is_some(),
    }
}

pub(crate) fn a_trip() -> Data {
    Data { seat: None }
}

pub(crate) fn at_charge_card() -> tercet_saga::testing::Conversation<Trip> {
    let mut saga = tercet_saga::testing::Dialogue::start::<Trip>(a_trip());
    saga.asks(Command::BookHotel).answer(Reply::Done);
    saga.asks(Command::CheckVisa).answer(Reply::Done);
    saga.runs(Local::WriteNote).asks(Command::ChargeCard);
    saga
}

pub(crate) fn at_buy_ticket() -> tercet_saga::testing::Conversation<Trip> {
    let mut saga = at_charge_card();
    saga.answer(Reply::Done)
        .asks(Command::BuyTicket { seat: None });
    saga
}

pub(crate) fn at_refund_card() -> tercet_saga::testing::Conversation<Trip> {
    let mut saga = at_buy_ticket();
    saga.answer(Reply::Refused("SOLD_OUT"))
        .asks(Command::RefundCard { seat_known: false });
    saga
}
