#![allow(
    clippy::arithmetic_side_effects,
    reason = "a test counts to ten; the money it checks is not its own"
)]

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::domain::{Answers, Currency};

fn payment(status: Status, undo_wanted: bool) -> Payment {
    let captured = matches!(
        status,
        Status::Charged | Status::Refunding | Status::Refunded
    );
    Payment {
        id: Uuid::from_u128(1).into(),
        order_id: Uuid::from_u128(2).into(),
        status,
        amount: Money::new(3_680, Currency::parse("EUR").unwrap()).unwrap(),
        captured_minor: if captured { 3_680 } else { 0 },
        refunded_minor: if status == Status::Refunded { 3_680 } else { 0 },
        decline_reason: None,
        gateway_intent_id: None,
        undo_wanted,
        told: None,
        version: 4,
        created_at: OffsetDateTime::UNIX_EPOCH,
        updated_at: OffsetDateTime::UNIX_EPOCH,
    }
}

fn declined() -> ChargeAnswer {
    ChargeAnswer::Declined(Reason::from_code("CARD_DECLINED"))
}

fn facts(decision: &Decision) -> Vec<&Fact> {
    decision.events.iter().map(|event| &event.fact).collect()
}

#[test]
fn an_answer_closes_a_charge() {
    for status in [Status::Charging, Status::OutcomeUnknown] {
        let open = payment(status, false);
        let taken = open.charge_answered(ChargeAnswer::Taken).unwrap();
        assert_eq!(taken.payment.status, Status::Charged);
        assert_eq!(taken.payment.captured_minor, 3_680);
        assert!(matches!(facts(&taken)[..], [Fact::Charged { .. }]));

        let refused = open.charge_answered(declined()).unwrap();
        assert_eq!(refused.payment.status, Status::Declined);
        assert!(matches!(facts(&refused)[..], [Fact::Declined { .. }]));

        let cancelled = open.charge_answered(ChargeAnswer::Canceled).unwrap();
        assert_eq!(cancelled.payment.status, Status::Declined);
    }
}

#[test]
fn an_answer_decides_the_waiting_undo_too() {
    let open = payment(Status::OutcomeUnknown, true);
    let taken = open.charge_answered(ChargeAnswer::Taken).unwrap();
    assert_eq!(taken.payment.status, Status::Refunding);
    assert!(matches!(facts(&taken)[..], [Fact::Charged { .. }]));

    let refused = open.charge_answered(declined()).unwrap();
    assert!(matches!(
        facts(&refused)[..],
        [Fact::Declined { .. }, Fact::Voided { changed: false }]
    ));
    assert_eq!(refused.payment.version, 6);
    assert_eq!(refused.events[0].version, 5);
    assert_eq!(refused.events[1].version, 6);

    let cancelled = open.charge_answered(ChargeAnswer::Canceled).unwrap();
    assert_eq!(cancelled.payment.status, Status::Voided);
    assert!(matches!(
        facts(&cancelled)[..],
        [Fact::Voided { changed: true }]
    ));
}

#[test]
fn what_is_closed_stays_closed() {
    for status in Status::ALL {
        let payment = payment(status, true);
        let is_charge = matches!(status, Status::Charging | Status::OutcomeUnknown);
        for answer in [ChargeAnswer::Taken, declined(), ChargeAnswer::Canceled] {
            let decided = payment.charge_answered(answer);
            assert_eq!(decided.is_some(), is_charge, "{status}");
        }
        assert_eq!(payment.refunded().is_some(), status == Status::Refunding);
        let reason = Reason::from_code("X");
        assert_eq!(payment.unanswered(reason).is_some(), status.is_open());
    }
}

#[test]
fn an_undo_acts_on_what_the_charge_came_to() {
    let undo = |status| payment(status, false).undo();
    assert!(matches!(undo(Status::Charging), Undo::Remember(p) if p.undo_wanted));
    assert!(matches!(undo(Status::OutcomeUnknown), Undo::Remember(_)));
    assert!(matches!(undo(Status::Charged), Undo::Begin(p) if p.status == Status::Refunding));
    assert!(matches!(undo(Status::Refunding), Undo::AnotherIsOpen));
    for status in [Status::Declined, Status::Voided] {
        let Undo::Decided(decision) = undo(status) else {
            panic!("{status}")
        };
        assert_eq!(decision.payment.status, status);
        assert_eq!(facts(&decision), [&Fact::Voided { changed: false }]);
    }
    let Undo::Decided(again) = undo(Status::Refunded) else {
        panic!()
    };
    assert!(matches!(
        facts(&again)[..],
        [Fact::Refunded { changed: false, .. }]
    ));
}

#[test]
fn a_delay_is_told_once_for_each_reason_and_only_to_an_undo() {
    let why = |code| Reason::from_code(code);
    let nobody = payment(Status::Charging, false)
        .unanswered(why("A"))
        .unwrap();
    assert_eq!(nobody.payment.status, Status::OutcomeUnknown);
    assert_eq!(nobody.events, []);

    let first = payment(Status::Refunding, true)
        .unanswered(why("A"))
        .unwrap();
    assert_eq!(first.events.len(), 1);
    let second = first.payment.unanswered(why("A")).unwrap();
    assert_eq!(second.events, []);
    assert_eq!(second.payment.version, first.payment.version);
    let third = second.payment.refund_refused(why("B")).unwrap();
    assert!(matches!(facts(&third)[..], [Fact::RefundRefused { .. }]));
    assert_eq!(third.payment.status, Status::Refunding);
}

/// What can happen to a payment, in any order.
#[derive(Debug, Clone)]
enum Happening {
    Taken,
    Declined,
    Canceled,
    Silence,
    Undo,
    Refunded,
    Refused,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    use Happening::{Canceled, Declined, Refunded, Refused, Silence, Taken, Undo};
    let one = prop_oneof![
        Just(Taken),
        Just(Declined),
        Just(Canceled),
        Just(Silence),
        Just(Undo),
        Just(Refunded),
        Just(Refused)
    ];
    proptest::collection::vec(one, 0..24)
}

fn apply(payment: &Payment, happening: &Happening) -> Option<Decision> {
    let quiet = |payment| Decision {
        payment,
        events: Vec::new(),
    };
    match happening {
        Happening::Taken => payment.charge_answered(ChargeAnswer::Taken),
        Happening::Declined => payment.charge_answered(declined()),
        Happening::Canceled => payment.charge_answered(ChargeAnswer::Canceled),
        Happening::Silence => payment.unanswered(Reason::from_code("SILENCE")),
        Happening::Refunded => payment.refunded(),
        Happening::Refused => payment.refund_refused(Reason::from_code("DISPUTED")),
        Happening::Undo => match payment.undo() {
            Undo::Remember(after) | Undo::Begin(after) => Some(quiet(after)),
            Undo::Decided(decision) => Some(decision),
            Undo::AnotherIsOpen => None,
        },
    }
}

proptest! {
    #[test]
    fn whatever_happens_money_goes_once_each_way(happenings in happenings()) {
        let mut now = payment(Status::Charging, false);
        let (mut charges, mut refunds, mut told) = (0, 0, now.version);
        for happening in &happenings {
            let Some(decision) = apply(&now, happening) else { continue };
            for event in &decision.events {
                prop_assert_eq!(event.version, told + 1, "no gap and no repetition");
                told = event.version;
                charges += i32::from(event.fact.answers() == Answers::Charge);
                refunds += i32::from(matches!(event.fact, Fact::Refunded { changed: true, .. }));
            }
            now = decision.payment;
            prop_assert_eq!(now.version, told);
            prop_assert!(now.refunded_minor <= now.captured_minor);
            prop_assert!(now.captured_minor <= now.amount.minor());
        }
        prop_assert!(charges <= 1 && refunds <= 1);
        if now.undo_wanted && !now.status.is_open() {
            prop_assert_eq!(now.captured_minor, now.refunded_minor, "an undo leaves nothing taken");
        }
    }
}
