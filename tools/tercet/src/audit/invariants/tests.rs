//! A sound world, then one thing broken by hand at a time: the invariant that guards it must say so.

use std::{collections::BTreeMap, time::Duration};

use uuid::Uuid;

use crate::audit::{
    Evidence,
    evidence::{
        Account, Books, Charge, Event, Guard, Order, Outbox, Payment, Pending, Publication, Refund,
        Reservation, Saga, Stock, Topics,
    },
    judge,
};

const SETTLE: Duration = Duration::from_secs(10);
const OLD: Duration = Duration::from_mins(1);
const YOUNG: Duration = Duration::from_secs(1);

/// Order 1 is confirmed, order 2 was charged and cancelled; both long ago.
const CONFIRMED: u128 = 1;
const CANCELLED: u128 = 2;

fn order_id(n: u128) -> Uuid {
    Uuid::from_u128(n)
}
fn saga_id(n: u128) -> Uuid {
    Uuid::from_u128(100 + n)
}
fn payment_id(n: u128) -> Uuid {
    Uuid::from_u128(200 + n)
}
fn reservation_id(n: u128) -> Uuid {
    Uuid::from_u128(300 + n)
}

fn sound() -> Evidence {
    let mut evidence = Evidence::default();
    add(
        &mut evidence,
        CONFIRMED,
        ["CONFIRMED", "COMPLETED", "CHARGED", "COMMITTED"],
    );
    add(
        &mut evidence,
        CANCELLED,
        ["CANCELLED", "COMPENSATED", "REFUNDED", "RELEASED"],
    );
    evidence
        .payments
        .get_mut(&payment_id(CANCELLED))
        .unwrap()
        .refunded_minor = 500;
    let account = evidence
        .books
        .payments
        .get_mut(&payment_id(CANCELLED))
        .unwrap();
    account
        .refunds
        .push(refund("re_2", &payment_id(CANCELLED).to_string()));
    evidence.stock = BTreeMap::from([(
        "CUP".to_owned(),
        Stock {
            on_hand: 9,
            reserved: 0,
            journal_on_hand: 9,
            journal_reserved: 0,
            pending: 0,
        },
    )]);
    evidence.outboxes = ["order", "payment", "inventory"].map(outbox).to_vec();
    evidence.topics = Topics::Read(evidence.outboxes.iter().map(publications).collect());
    evidence
}

fn add(evidence: &mut Evidence, n: u128, [order, saga, payment, hold]: [&str; 4]) {
    let lines = BTreeMap::from([("CUP".to_owned(), 1)]);
    evidence.orders.insert(
        order_id(n),
        Order {
            id: order_id(n),
            state: order.into(),
            currency: "EUR".into(),
            total_minor: 500,
            lines: lines.clone(),
            saga_id: saga_id(n),
            payment_id: payment_id(n),
            reservation_id: reservation_id(n),
            version: 2,
            age: OLD,
        },
    );
    evidence.sagas.insert(
        saga_id(n),
        Saga {
            id: saga_id(n),
            order_id: order_id(n),
            status: saga.into(),
            stuck_reason: None,
            step: None,
            command_id: None,
            has_timer: false,
            age: OLD,
        },
    );
    evidence.payments.insert(
        payment_id(n),
        Payment {
            id: payment_id(n),
            order_id: order_id(n),
            state: payment.into(),
            amount_minor: 500,
            currency: "EUR".into(),
            captured_minor: 500,
            refunded_minor: 0,
            version: 2,
            age: OLD,
        },
    );
    evidence.reservations.insert(
        reservation_id(n),
        Reservation {
            id: reservation_id(n),
            order_id: order_id(n),
            state: hold.into(),
            lines,
            overdue: Duration::ZERO,
            version: 2,
            age: OLD,
        },
    );
    pay(evidence, n);
}

fn pay(evidence: &mut Evidence, n: u128) {
    let charge = Charge {
        id: format!("ch_{n}"),
        amount: 500,
        currency: "eur".into(),
        idempotency_key: Some(format!("charge:{}", payment_id(n))),
    };
    let account = Account {
        charges: vec![charge],
        ..Account::default()
    };
    evidence.books.payments.insert(payment_id(n), account);
    evidence.guards.push(Guard {
        service: "payment",
        saga_id: saga_id(n),
        step: "charge-payment".into(),
        direction: "FORWARD".into(),
        is_undone: false,
        is_decided: true,
    });
}

fn refund(id: &str, key: &str) -> Refund {
    Refund {
        id: id.into(),
        amount: 500,
        status: "succeeded".into(),
        idempotency_key: Some(key.into()),
    }
}

fn outbox(service: &'static str) -> Outbox {
    let base = match service {
        "order" => 0,
        "payment" => 200,
        _ => 300,
    };
    let events = [
        (CONFIRMED, 1),
        (CONFIRMED, 2),
        (CANCELLED, 1),
        (CANCELLED, 2),
    ];
    let events = events.map(|(n, version)| Event {
        event_id: Uuid::from_u128(base * 1000 + n * 10 + version),
        aggregate_id: Uuid::from_u128(base + n).to_string(),
        version: i64::try_from(version).unwrap(),
        topic: format!("t.{service}.events.v1"),
        event_type: "Happened".into(),
        outcome_of: Some(format!("{base}:{n}:{version}")),
        age: OLD,
    });
    Outbox {
        service,
        events: events.to_vec(),
        pending: Vec::new(),
    }
}

fn publications(outbox: &Outbox) -> Vec<Publication> {
    let records = outbox.events.iter().map(|event| Publication {
        aggregate_id: event.aggregate_id.clone(),
        version: event.version,
        event_id: event.event_id,
    });
    records.collect()
}

/// The invariants that are broken once `breakage` was done to a sound world.
fn broken_by(breakage: impl FnOnce(&mut Evidence)) -> Vec<&'static str> {
    let mut evidence = sound();
    breakage(&mut evidence);
    let mut names: Vec<_> = judge(&evidence, SETTLE)
        .findings()
        .map(|(name, _)| name)
        .collect();
    names.dedup();
    names
}

fn order(evidence: &mut Evidence, n: u128) -> &mut Order {
    evidence.orders.get_mut(&order_id(n)).unwrap()
}
fn saga(evidence: &mut Evidence, n: u128) -> &mut Saga {
    evidence.sagas.get_mut(&saga_id(n)).unwrap()
}
fn hold(evidence: &mut Evidence, n: u128) -> &mut Reservation {
    evidence.reservations.get_mut(&reservation_id(n)).unwrap()
}
fn account(books: &mut Books, n: u128) -> &mut Account {
    books.payments.get_mut(&payment_id(n)).unwrap()
}

#[test]
fn a_sound_world_has_no_findings() {
    assert_eq!(broken_by(|_| ()), <[&str; 0]>::default());
}

#[test]
fn a_saga_that_is_forgotten() {
    let forgotten = broken_by(|world| {
        let saga = saga(world, CONFIRMED);
        saga.status = "RUNNING".into();
        saga.command_id = Some("c".into());
        order(world, CONFIRMED).state = "PENDING".into();
    });
    assert_eq!(forgotten, ["SAGA_ENDS_OR_IS_STUCK"]);
    let stuck = broken_by(|world| {
        let saga = saga(world, CONFIRMED);
        saga.status = "RUNNING".into();
        saga.stuck_reason = Some("NO_ACK".into());
        saga.command_id = Some("c".into());
        order(world, CONFIRMED).state = "PENDING".into();
    });
    assert!(stuck.is_empty(), "visibly stuck is allowed: {stuck:?}");
    let motionless = broken_by(|world| {
        let saga = saga(world, CONFIRMED);
        saga.status = "RUNNING".into();
        saga.age = YOUNG;
        order(world, CONFIRMED).state = "PENDING".into();
    });
    assert_eq!(motionless, ["SAGA_HAS_TIMER_OR_COMMAND"]);
}

#[test]
fn a_saga_and_an_order_that_ended_differently() {
    let names = broken_by(|world| saga(world, CONFIRMED).status = "COMPENSATED".into());
    assert_eq!(names, ["SAGA_AGREES_WITH_ITS_ORDER"]);
    let names = broken_by(|world| {
        world.sagas.remove(&saga_id(CANCELLED));
    });
    assert_eq!(names, ["SAGA_AGREES_WITH_ITS_ORDER"]);
}

#[test]
fn a_confirmed_order_that_is_not_paid_exactly_once() {
    let unpaid = broken_by(|world| account(&mut world.books, CONFIRMED).charges.clear());
    assert_eq!(
        unpaid,
        ["CONFIRMED_IS_PAID_ONCE", "PAYMENTS_EQUAL_THE_BOOKS"]
    );
    let twice = broken_by(|world| {
        let account = account(&mut world.books, CONFIRMED);
        account.charges.push(account.charges[0].clone());
    });
    assert_eq!(
        twice,
        [
            "CONFIRMED_IS_PAID_ONCE",
            "PAYMENT_CHARGED_ONCE",
            "PAYMENTS_EQUAL_THE_BOOKS"
        ]
    );
    let wrong_sum = broken_by(|world| order(world, CONFIRMED).total_minor = 501);
    assert_eq!(wrong_sum, ["CONFIRMED_IS_PAID_ONCE"]);
    let given_back = broken_by(|world| {
        let key = payment_id(CONFIRMED).to_string();
        account(&mut world.books, CONFIRMED)
            .refunds
            .push(refund("re_1", &key));
    });
    assert_eq!(
        given_back,
        ["CONFIRMED_IS_PAID_ONCE", "PAYMENTS_EQUAL_THE_BOOKS"]
    );
}

#[test]
fn a_confirmed_order_without_its_goods() {
    let names = broken_by(|world| hold(world, CONFIRMED).state = "EXPIRED".into());
    assert_eq!(names, ["CONFIRMED_HAS_ITS_GOODS"]);
    let names = broken_by(|world| {
        hold(world, CONFIRMED).lines.insert("CUP".into(), 2);
    });
    assert_eq!(names, ["CONFIRMED_HAS_ITS_GOODS"]);
}

#[test]
fn a_cancelled_order_that_cost_something() {
    let kept = broken_by(|world| account(&mut world.books, CANCELLED).refunds.clear());
    assert_eq!(
        kept,
        [
            "CANCELLED_GAVE_MONEY_BACK",
            "CAPTURED_IS_CONFIRMED",
            "PAYMENTS_EQUAL_THE_BOOKS"
        ]
    );
    let open = broken_by(|world| {
        world
            .payments
            .get_mut(&payment_id(CANCELLED))
            .unwrap()
            .state = "REFUNDING".into();
    });
    assert_eq!(open, ["CANCELLED_GAVE_MONEY_BACK"]);
    let held = broken_by(|world| hold(world, CANCELLED).state = "COMMITTED".into());
    assert_eq!(held, ["CANCELLED_HOLDS_NOTHING"]);
}

#[test]
fn a_refund_that_came_twice_or_under_a_wrong_key() {
    let twice = broken_by(|world| {
        let key = payment_id(CANCELLED).to_string();
        account(&mut world.books, CANCELLED)
            .refunds
            .push(refund("re_3", &key));
    });
    assert!(twice.contains(&"PAYMENT_REFUNDED_ONCE"), "{twice:?}");
    let wrong_key = broken_by(|world| {
        account(&mut world.books, CANCELLED).refunds[0].idempotency_key = Some("k".into());
    });
    assert_eq!(wrong_key, ["REFUND_UNDER_THE_PAYMENT_ID"]);
    let second_try = broken_by(|world| {
        let id = payment_id(CANCELLED);
        let refunds = &mut account(&mut world.books, CANCELLED).refunds;
        refunds[0].status = "failed".into();
        refunds.push(refund("re_3", &format!("{id}:r1")));
    });
    assert!(
        second_try.is_empty(),
        "after a refusal the key changes: {second_try:?}"
    );
}

#[test]
fn a_charge_under_a_foreign_key_or_for_nobody() {
    let names = broken_by(|world| {
        account(&mut world.books, CONFIRMED).charges[0].idempotency_key = None;
    });
    assert_eq!(names, ["PAYMENT_CHARGED_ONCE"]);
    let names = broken_by(|world| world.books.strays.push("ch_9".into()));
    assert_eq!(names, ["CAPTURED_IS_CONFIRMED"]);
}

#[test]
fn stock_that_was_made_lost_or_promised_twice() {
    let stock =
        |change: fn(&mut Stock)| broken_by(|world| change(world.stock.get_mut("CUP").unwrap()));
    assert_eq!(stock(|cup| cup.on_hand = 8), ["STOCK_EQUALS_ITS_JOURNAL"]);
    assert_eq!(stock(|cup| cup.pending = 1), ["RESERVED_EQUALS_THE_HOLDS"]);
    let oversold = stock(|cup| {
        *cup = Stock {
            reserved: 10,
            journal_reserved: 10,
            pending: 10,
            ..cup.clone()
        }
    });
    assert_eq!(oversold, ["STOCK_IS_NEVER_OVERSOLD"]);
    let endless = broken_by(|world| {
        world.reservations.insert(
            Uuid::from_u128(999),
            Reservation {
                id: Uuid::from_u128(999),
                order_id: order_id(9),
                state: "PENDING".into(),
                lines: BTreeMap::new(),
                overdue: OLD,
                version: 1,
                age: OLD,
            },
        );
    });
    assert_eq!(endless, ["HOLDS_END"]);
}

#[test]
fn events_that_are_late_missing_or_out_of_order() {
    let late = broken_by(|world| {
        let event = world.outboxes[0].events[0].clone();
        world.outboxes[0].pending.push(Pending {
            event_id: event.event_id,
            aggregate_id: event.aggregate_id,
            attempts: 3,
            is_quarantined: false,
            last_error: None,
            age: OLD,
        });
    });
    assert_eq!(late, ["EVENTS_ARE_PUBLISHED"]);
    let gap = broken_by(|world| world.outboxes[1].events[1].version = 3);
    assert_eq!(gap, ["VERSIONS_HAVE_NO_GAPS"]);
    let twice = broken_by(|world| {
        world.outboxes[1].events[1].outcome_of = world.outboxes[1].events[0].outcome_of.clone();
    });
    assert_eq!(twice, ["COMMANDS_HAVE_ONE_OUTCOME"]);
    let lost = broken_by(|world| {
        let Topics::Read(partitions) = &mut world.topics else {
            unreachable!()
        };
        partitions[2].pop();
    });
    assert_eq!(lost, ["TOPICS_HOLD_EVERY_EVENT"]);
    let swapped = broken_by(|world| {
        let Topics::Read(partitions) = &mut world.topics else {
            unreachable!()
        };
        partitions[2].swap(0, 1);
    });
    assert_eq!(swapped, ["TOPICS_ARE_IN_VERSION_ORDER"]);
    let repeated = broken_by(|world| {
        let Topics::Read(partitions) = &mut world.topics else {
            unreachable!()
        };
        let first = partitions[2][0].clone();
        partitions[2].push(first);
    });
    assert!(
        repeated.is_empty(),
        "at least once is the promise: {repeated:?}"
    );
}

#[test]
fn a_command_without_outcome() {
    let names = broken_by(|world| world.guards[0].is_decided = false);
    assert_eq!(names, ["COMMANDS_ARE_DECIDED"]);
    let overtaken = broken_by(|world| {
        world.guards[0].is_decided = false;
        world.guards[0].is_undone = true;
    });
    assert!(overtaken.is_empty(), "{overtaken:?}");
}

#[test]
fn what_is_young_is_not_judged() {
    let names = broken_by(|world| {
        saga(world, CONFIRMED).age = YOUNG;
        account(&mut world.books, CONFIRMED).charges.clear();
        world.payments.get_mut(&payment_id(CONFIRMED)).unwrap().age = YOUNG;
        hold(world, CONFIRMED).state = "PENDING".into();
    });
    assert!(names.is_empty(), "{names:?}");
}
