//! The rules over a table of facts: each cause alone, and which goes first where several hold.

use time::{Duration, OffsetDateTime, macros::datetime};
use uuid::Uuid;

use super::diagnose;
use crate::why::{
    broker::{Broker, Group},
    cause::Cause,
    facts::{
        Facts, Found, GatewayCall, Guard, Health, InventorySide, Order, OrderSide, Outcome, Parked,
        Payment, PaymentSide, Read, Reservation, Saga, Services, When,
    },
    id::Kind,
    storage::{Event, Lock, Outbox, Pending},
};

const NOW: OffsetDateTime = datetime!(2026-11-30 14:03:20 UTC);
const ORDER: Uuid = Uuid::from_u128(1);
const EVENT: Uuid = Uuid::from_u128(5);

fn at(ahead_ms: i64) -> When {
    When {
        at: NOW + Duration::milliseconds(ahead_ms),
        ahead_ms,
    }
}

fn silent<T>() -> Read<T> {
    Read::Silent("connection refused".to_owned())
}

/// An order whose payment has just been asked for; nothing is wrong.
fn charging() -> Facts {
    let ready = || Read::Answered(Health::default());
    Facts {
        asked: ORDER.to_string(),
        found: Some(Found {
            kind: Kind::Order,
            order_id: ORDER,
            event: None,
        }),
        order: Read::Answered(OrderSide {
            order: Some(order("PENDING")),
            saga: Some(saga("charge-payment", "FORWARD")),
            ..OrderSide::default()
        }),
        payment: Read::Answered(PaymentSide {
            payment: Some(payment("CHARGING")),
            ..PaymentSide::default()
        }),
        inventory: Read::Answered(InventorySide {
            reservation: Some(hold("PENDING", 60_000)),
            ..InventorySide::default()
        }),
        broker: Read::Answered(Broker {
            topics: [("tercet.payment.events.v1".to_owned(), 12)].into(),
            group: Some(Group {
                name: "tercet.order-service".to_owned(),
                state: "Stable".to_owned(),
                members: vec!["order-service".to_owned()],
                behind: [("tercet.payment.events.v1".to_owned(), 0)].into(),
            }),
        }),
        gateway: Read::Answered(()),
        services: Services {
            order: ready(),
            payment: ready(),
            inventory: ready(),
        },
    }
}

fn order(state: &str) -> Order {
    Order {
        id: ORDER,
        state: state.to_owned(),
        total_minor: 2_000,
        currency: "EUR".to_owned(),
        cancel_reason: None,
        cancel_message: None,
        placed: at(-900),
        changed: at(-900),
        saga_id: Uuid::from_u128(2),
        payment_id: Uuid::from_u128(3),
        reservation_id: Uuid::from_u128(4),
    }
}

fn saga(step: &str, direction: &str) -> Saga {
    let status = if direction == "FORWARD" {
        "RUNNING"
    } else {
        "COMPENSATING"
    };
    Saga {
        id: Uuid::from_u128(2),
        status: status.to_owned(),
        stuck_reason: None,
        step: step.to_owned(),
        direction: direction.to_owned(),
        command_id: Some(format!("2:{step}:{}", direction.to_lowercase())),
        wait: "SENT".to_owned(),
        waiting_reason: None,
        attempt: 0,
        asks: 0,
        failure_reason: (direction == "BACKWARD").then(|| "CANCELLED_BY_CUSTOMER".to_owned()),
        step_since: at(-800),
        next_action: Some(at(1_200)),
    }
}

fn payment(status: &str) -> Payment {
    Payment {
        id: Uuid::from_u128(3),
        status: status.to_owned(),
        amount_minor: 2_000,
        currency: "EUR".to_owned(),
        captured_minor: 0,
        refunded_minor: 0,
        attempts: 1,
        next_attempt: Some(at(500)),
        changed: at(-700),
    }
}

fn hold(state: &str, expires_in_ms: i64) -> Reservation {
    Reservation {
        id: Uuid::from_u128(4),
        state: state.to_owned(),
        expires: Some(at(expires_in_ms)),
        changed: at(-850),
    }
}

fn call(operation: &str, result: &str, detail: &str) -> GatewayCall {
    GatewayCall {
        operation: operation.to_owned(),
        result: result.to_owned(),
        detail: Some(detail.to_owned()),
        ended: at(-100),
    }
}

fn pending(lease_ends_in_ms: i64) -> Pending {
    Pending {
        attempts: 0,
        last_error: None,
        quarantined: None,
        partition: 7,
        owner: Some("payment-service".to_owned()),
        lease_until: Some(at(lease_ends_in_ms)),
        owner_is_alive: lease_ends_in_ms > 0,
    }
}

fn event(version: i64, name: &str, pending: Option<Pending>) -> Event {
    Event {
        id: EVENT,
        event_type: name.to_owned(),
        version,
        written: at(-300),
        pending,
    }
}

fn lock(held_ms: i64) -> Lock {
    Lock {
        table: "sagas".to_owned(),
        row: Some(Uuid::from_u128(2).to_string()),
        pid: 4711,
        user: Some("postgres".to_owned()),
        application: Some("psql".to_owned()),
        state: Some("idle in transaction".to_owned()),
        query: Some("UPDATE sagas SET data = '{}'".to_owned()),
        since: Some(at(-held_ms)),
        waiting: vec![815],
    }
}

// Ways to change the facts.

type Change = fn(&mut Facts);

// A side that an earlier change silenced, or emptied, speaks again.

fn order_side(facts: &mut Facts) -> &mut OrderSide {
    if facts.order.answer().is_none_or(|side| side.saga.is_none()) {
        facts.order = charging().order;
    }
    speaking(&mut facts.order)
}

fn saga_of(facts: &mut Facts) -> &mut Saga {
    order_side(facts).saga.as_mut().unwrap()
}

fn payment_side(facts: &mut Facts) -> &mut PaymentSide {
    if facts.payment.answer().is_none() {
        facts.payment = charging().payment;
    }
    speaking(&mut facts.payment)
}

fn inventory_side(facts: &mut Facts) -> &mut InventorySide {
    if facts.inventory.answer().is_none() {
        facts.inventory = charging().inventory;
    }
    speaking(&mut facts.inventory)
}

fn group(facts: &mut Facts) -> &mut Group {
    if facts.broker.answer().is_none() {
        facts.broker = charging().broker;
    }
    speaking(&mut facts.broker).group.as_mut().unwrap()
}

fn speaking<T>(read: &mut Read<T>) -> &mut T {
    match read {
        Read::Answered(answer) => answer,
        Read::Silent(why) => panic!("{why}"),
    }
}

fn ended(facts: &mut Facts, state: &str) {
    let side = order_side(facts);
    side.order = Some(order(state));
    let saga = side.saga.as_mut().unwrap();
    saga.status = "COMPLETED".to_owned();
    saga.command_id = None;
    saga.next_action = None;
}

fn cancelled(facts: &mut Facts, reason: &str) {
    ended(facts, "CANCELLED");
    let order = order_side(facts).order.as_mut().unwrap();
    order.cancel_reason = Some(reason.to_owned());
    order.cancel_message = Some("the card was declined".to_owned());
}

/// The payment is decided; its event is as given.
fn decided(facts: &mut Facts, event: Event) {
    let side = payment_side(facts);
    side.payment = Some(Payment {
        next_attempt: None,
        captured_minor: 2_000,
        ..payment("CHARGED")
    });
    side.guards = vec![Guard {
        step: "charge-payment".to_owned(),
        direction: "FORWARD".to_owned(),
        outcome: Some(Outcome {
            event_id: event.id,
            event_type: event.event_type.clone(),
        }),
    }];
    side.outbox = Outbox {
        events: vec![event],
    };
}

fn undoing(facts: &mut Facts) {
    *saga_of(facts) = saga("charge-payment", "BACKWARD");
    payment_side(facts).payment = Some(payment("REFUNDING"));
}

fn gateway_call(facts: &mut Facts, call: GatewayCall) {
    payment_side(facts).calls = vec![call];
}

/// Facts, and the cause that they must have. In the order of [`Cause::ALL`].
const TABLE: &[(Cause, Change)] = &[
    (Cause::UnknownId, |facts| {
        facts.found = None;
        facts.order = Read::Answered(OrderSide::default());
        facts.payment = Read::Answered(PaymentSide::default());
        facts.inventory = Read::Answered(InventorySide::default());
    }),
    (Cause::LockHeld, |facts| {
        order_side(facts).locks = vec![lock(12_000)];
    }),
    (Cause::LockHeld, |facts| {
        payment_side(facts).locks = vec![lock(1_000)];
    }),
    (Cause::LockHeld, |facts| {
        facts.found = None;
        facts.order = Read::Answered(OrderSide {
            locks: vec![lock(3_000)],
            ..OrderSide::default()
        });
    }),
    (Cause::LockHeld, |facts| {
        let hidden = Lock {
            since: None,
            state: None,
            query: None,
            ..lock(0)
        };
        order_side(facts).locks = vec![hidden];
    }),
    (Cause::DatabaseDown, |facts| facts.order = silent()),
    (Cause::DatabaseDown, |facts| facts.payment = silent()),
    (Cause::DatabaseDown, |facts| {
        facts.found = None;
        facts.order = silent();
    }),
    (Cause::ClosedByPerson, |facts| {
        saga_of(facts).status = "FAILED".to_owned();
    }),
    (Cause::StuckUndo, |facts| {
        undoing(facts);
        saga_of(facts).stuck_reason = Some("CHARGE_DISPUTED".to_owned());
        gateway_call(facts, call("REFUND", "REFUSED", "HTTP 400"));
    }),
    (Cause::Stuck, |facts| {
        *saga_of(facts) = saga("commit-stock", "FORWARD");
        saga_of(facts).stuck_reason = Some("NO_ACK".to_owned());
        facts.services.inventory = silent();
    }),
    (Cause::OrchestratorDown, |facts| {
        facts.services.order = silent();
    }),
    (Cause::QuarantinedEvent, |facts| {
        let refused = Pending {
            attempts: 10,
            quarantined: Some(at(-50)),
            last_error: Some("Broker: Message size too large".to_owned()),
            ..pending(4_000)
        };
        decided(facts, event(1, "PaymentCharged", Some(refused)));
    }),
    (Cause::RelayStopped, |facts| {
        decided(facts, event(1, "PaymentCharged", Some(pending(-3_000))));
        facts.services.payment = silent();
    }),
    (Cause::RelayStopped, |facts| {
        let ghost = Pending {
            owner_is_alive: false,
            ..pending(60_000)
        };
        decided(facts, event(1, "PaymentCharged", Some(ghost)));
    }),
    (Cause::BrokerDown, |facts| {
        decided(facts, event(1, "PaymentCharged", Some(pending(4_000))));
        facts.broker = silent();
    }),
    (Cause::BrokerDown, |facts| {
        decided(facts, event(1, "PaymentCharged", None));
        facts.broker = silent();
    }),
    (Cause::BrokerDown, |facts| {
        ended(facts, "CONFIRMED");
        let confirmed = event(2, "OrderConfirmed", Some(pending(4_000)));
        order_side(facts).outbox.events = vec![confirmed];
        facts.broker = silent();
    }),
    (Cause::RelayBehind, |facts| {
        let old = Event {
            written: at(-8_000),
            ..event(1, "PaymentCharged", Some(pending(4_000)))
        };
        decided(facts, old);
    }),
    (Cause::ParkedMessage, |facts| {
        decided(facts, event(1, "PaymentCharged", None));
        order_side(facts).parked = vec![Parked {
            event_id: Some(EVENT.to_string()),
            topic: "tercet.payment.events.v1".to_owned(),
            error: "cannot be read".to_owned(),
            parked: at(-100),
        }];
    }),
    (Cause::ConsumerBehind, |facts| {
        let old = Event {
            written: at(-8_000),
            ..event(1, "PaymentCharged", None)
        };
        decided(facts, old);
        group(facts)
            .behind
            .insert("tercet.payment.events.v1".to_owned(), 37);
        group(facts).members.clear();
    }),
    (Cause::ParticipantDown, |facts| {
        facts.services.payment = silent();
        saga_of(facts).wait = "CANNOT_CONNECT".to_owned();
    }),
    (Cause::ParticipantDown, |facts| {
        saga_of(facts).wait = "CANNOT_CONNECT".to_owned();
    }),
    (Cause::GatewayDown, |facts| facts.gateway = silent()),
    (Cause::GatewayDown, |facts| {
        gateway_call(facts, call("CREATE_INTENT", "NO_ANSWER", "cannot connect"));
    }),
    (Cause::GatewayError, |facts| {
        gateway_call(facts, call("CONFIRM", "UNKNOWN", "HTTP 503 api_error"));
    }),
    (Cause::OutcomeUnknown, |facts| {
        payment_side(facts).payment = Some(payment("OUTCOME_UNKNOWN"));
        gateway_call(facts, call("CONFIRM", "TIMED_OUT", "no answer in time"));
    }),
    (Cause::OutcomeUnknown, |facts| {
        gateway_call(
            facts,
            call("CONFIRM", "UNKNOWN", "HTTP 409 idempotency_error"),
        );
    }),
    (Cause::RefundRefused, |facts| {
        undoing(facts);
        gateway_call(facts, call("REFUND", "REFUSED", "HTTP 400 charge_disputed"));
    }),
    (Cause::RefundPending, |facts| {
        undoing(facts);
        gateway_call(facts, call("REFUND", "PENDING", "on its way"));
    }),
    (Cause::HoldExpired, |facts| cancelled(facts, "HOLD_EXPIRED")),
    (Cause::HoldExpired, |facts| {
        inventory_side(facts).reservation = Some(hold("EXPIRED", -5_000));
    }),
    (Cause::NoAck, |facts| {
        saga_of(facts).wait = "NO_ACK".to_owned();
        saga_of(facts).attempt = 3;
    }),
    (Cause::EngineStalled, |facts| {
        saga_of(facts).next_action = Some(at(-5_000));
    }),
    (Cause::Confirmed, |facts| ended(facts, "CONFIRMED")),
    (Cause::Cancelled, |facts| cancelled(facts, "CARD_DECLINED")),
    (Cause::Compensating, |facts| {
        *saga_of(facts) = saga("reserve-stock", "BACKWARD");
    }),
    (Cause::Running, |_| ()),
    // What happens to every order for some milliseconds is no cause.
    (Cause::Running, |facts| {
        order_side(facts).locks = vec![lock(20)];
    }),
    (Cause::Running, |facts| {
        decided(facts, event(1, "PaymentCharged", Some(pending(4_000))));
    }),
    (Cause::Running, |facts| {
        decided(facts, event(1, "PaymentCharged", None));
        group(facts)
            .behind
            .insert("tercet.payment.events.v1".to_owned(), 37);
    }),
    // Nobody's turn: a participant that is down holds up nothing.
    (Cause::Running, |facts| facts.services.inventory = silent()),
    (Cause::Confirmed, |facts| {
        ended(facts, "CONFIRMED");
        facts.services.payment = silent();
        facts.broker = silent();
    }),
    (Cause::Unexplained, |facts| order_side(facts).saga = None),
];

#[test]
fn each_cause_is_told_from_its_facts() {
    for (row, (cause, change)) in TABLE.iter().enumerate() {
        let mut facts = charging();
        change(&mut facts);
        let diagnosis = diagnose(&facts);
        assert_eq!(diagnosis.cause, *cause, "row {row}: {diagnosis:#?}");
        let sentence = &diagnosis.sentence;
        assert!(
            sentence.contains(&ORDER.to_string()),
            "row {row}: {sentence}"
        );
        assert!(
            !diagnosis.next.is_empty() || !diagnosis.advice.is_empty(),
            "row {row}"
        );
    }
}

#[test]
fn every_cause_has_a_row() {
    for cause in Cause::ALL {
        let rows = TABLE.iter().filter(|(told, _)| *told == cause).count();
        assert!(rows > 0, "{}", cause.code());
    }
}

#[test]
fn a_diagnosis_takes_microseconds() {
    let facts = charging();
    let began = std::time::Instant::now();
    for _ in 0..1_000 {
        assert_eq!(diagnose(&facts).cause, Cause::Running);
    }
    // Unoptimised and on a busy machine: far from a file or a socket all the same.
    assert!(
        began.elapsed() < std::time::Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
}

/// Every two rows on top of each other, both ways round: whatever holds then, what is told first stands
/// further up in [`Cause::ALL`] than what is told beside it. Only an event that nothing waits for comes
/// after all others.
#[test]
fn of_any_two_the_one_further_up_is_told_first() {
    let place = |cause: Cause| Cause::ALL.iter().position(|it| *it == cause);
    let may_come_late = [
        Cause::QuarantinedEvent,
        Cause::RelayStopped,
        Cause::BrokerDown,
        Cause::RelayBehind,
    ];
    let mut pairs = 0;
    for (_, first) in TABLE {
        for (_, second) in TABLE {
            let mut facts = charging();
            first(&mut facts);
            second(&mut facts);
            let diagnosis = diagnose(&facts);
            let mut told = vec![diagnosis.cause];
            told.extend(diagnosis.also.iter().map(|also| also.cause));
            pairs += usize::from(told.len() > 1);
            while told.len() > 1 && told.last().is_some_and(|it| may_come_late.contains(it)) {
                told.pop();
            }
            assert!(
                told.is_sorted_by_key(|cause| place(*cause)),
                "{diagnosis:#?}"
            );
        }
    }
    assert!(pairs > 200, "{pairs} pairs hold together");
}

#[test]
fn a_participant_that_has_done_its_part_is_not_waited_for() {
    let mut facts = charging();
    decided(
        &mut facts,
        event(1, "PaymentCharged", Some(pending(-3_000))),
    );
    facts.services.payment = silent();
    facts.gateway = silent();
    let diagnosis = diagnose(&facts);
    assert_eq!(diagnosis.cause, Cause::RelayStopped);
    assert_eq!(diagnosis.also, []);
}

#[test]
fn the_others_are_told_beside_it() {
    let pairs: &[(Change, Cause, &[Cause])] = &[
        (
            |facts| {
                order_side(facts).locks = vec![lock(9_000)];
                facts.services.payment = silent();
            },
            Cause::LockHeld,
            &[Cause::ParticipantDown],
        ),
        (
            |facts| {
                undoing(facts);
                saga_of(facts).stuck_reason = Some("NO_ACK".to_owned());
                facts.services.payment = silent();
                facts.gateway = silent();
            },
            Cause::StuckUndo,
            &[Cause::ParticipantDown, Cause::GatewayDown],
        ),
        (
            |facts| {
                facts.services.order = silent();
                facts.services.payment = silent();
            },
            Cause::OrchestratorDown,
            &[Cause::ParticipantDown],
        ),
        (
            |facts| {
                let told = event(1, "OrderPlaced", Some(pending(4_000)));
                order_side(facts).outbox.events = vec![told];
                facts.broker = silent();
                gateway_call(facts, call("CONFIRM", "TIMED_OUT", "no answer in time"));
                inventory_side(facts).reservation = Some(hold("EXPIRED", -5_000));
            },
            Cause::OutcomeUnknown,
            &[Cause::HoldExpired, Cause::BrokerDown],
        ),
    ];
    for (change, first, others) in pairs {
        let mut facts = charging();
        change(&mut facts);
        let diagnosis = diagnose(&facts);
        assert_eq!(diagnosis.cause, *first);
        let also: Vec<Cause> = diagnosis.also.iter().map(|also| also.cause).collect();
        assert_eq!(also, *others);
    }
}

#[test]
fn nobody_says_that_an_id_is_unknown_who_could_not_look() {
    let mut facts = charging();
    facts.found = None;
    facts.order = Read::Answered(OrderSide {
        locks: vec![lock(3_000)],
        ..OrderSide::default()
    });
    assert_eq!(diagnose(&facts).also, []);
}

#[test]
fn an_event_that_waits_behind_a_refused_one_says_which() {
    let mut facts = charging();
    let refused = Pending {
        attempts: 10,
        quarantined: Some(at(-50)),
        last_error: Some("Broker: Message size too large".to_owned()),
        ..pending(4_000)
    };
    let first = Event {
        id: Uuid::from_u128(9),
        ..event(1, "PaymentCharged", Some(refused))
    };
    ended(&mut facts, "CANCELLED");
    payment_side(&mut facts).outbox.events =
        vec![first, event(2, "PaymentRefunded", Some(pending(4_000)))];
    facts.found.as_mut().unwrap().event = Some(EVENT);
    let diagnosis = diagnose(&facts);
    assert_eq!(diagnosis.cause, Cause::QuarantinedEvent);
    let sentence = &diagnosis.sentence;
    assert!(
        sentence.contains("its event PaymentRefunded (and 1 more"),
        "{sentence}"
    );
    assert!(
        sentence.contains("PaymentCharged before it is refused"),
        "{sentence}"
    );
    assert!(diagnosis.advice[0].contains(&Uuid::from_u128(9).to_string()));
}

#[test]
fn whoever_is_silent_is_a_fact() {
    let mut facts = charging();
    facts.inventory = silent();
    facts.gateway = silent();
    let diagnosis = diagnose(&facts);
    let told: Vec<&str> = diagnosis
        .evidence
        .iter()
        .map(|it| it.fact.as_str())
        .collect();
    assert!(
        told.contains(&"inventory database is silent: connection refused"),
        "{told:#?}"
    );
    assert!(
        told.contains(&"card processor is silent: connection refused"),
        "{told:#?}"
    );
}
