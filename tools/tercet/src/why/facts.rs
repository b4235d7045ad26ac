//! What was read about one order, as plain values: everything that [`diagnose`](super::diagnose()) sees.
//!
//! Times are told by the database that holds them, as a moment and as its distance from that database's
//! own now: clocks of different machines are never compared.

use std::time::Duration;

use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    broker::Broker,
    id::Kind,
    storage::{Lock, Outbox},
};

/// A part that was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read<T> {
    /// What it said.
    Answered(T),
    /// It did not answer, or not in time, and why.
    Silent(String),
}

impl<T> From<Result<T, String>> for Read<T> {
    fn from(result: Result<T, String>) -> Self {
        match result {
            Ok(answer) => Self::Answered(answer),
            Err(why) => Self::Silent(why),
        }
    }
}

impl<T> Read<T> {
    /// What it said, if it said something.
    pub fn answer(&self) -> Option<&T> {
        match self {
            Self::Answered(answer) => Some(answer),
            Self::Silent(_) => None,
        }
    }

    /// Why it said nothing.
    pub fn silence(&self) -> Option<&str> {
        match self {
            Self::Answered(_) => None,
            Self::Silent(why) => Some(why),
        }
    }
}

/// A moment, and how far it was from the reader's now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When {
    /// By the clock of whoever wrote it down.
    pub at: OffsetDateTime,
    /// From now to then by the same clock, in milliseconds; negative if it is past.
    pub ahead_ms: i64,
}

impl When {
    /// For how long it has been past; nothing if it is still to come.
    pub fn ago(self) -> Option<Duration> {
        u64::try_from(-self.ahead_ms)
            .ok()
            .map(Duration::from_millis)
    }

    /// Whether it is past by `least` or more.
    pub fn is_past_by(self, least: Duration) -> bool {
        self.ago().is_some_and(|ago| ago >= least)
    }
}

/// Everything that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// What was pasted.
    pub asked: String,
    /// What it turned out to be, where it was found.
    pub found: Option<Found>,
    /// The order service's database.
    pub order: Read<OrderSide>,
    /// The payment service's database.
    pub payment: Read<PaymentSide>,
    /// The inventory service's database.
    pub inventory: Read<InventorySide>,
    /// Kafka.
    pub broker: Read<Broker>,
    /// Whether the card processor takes connections.
    pub gateway: Read<()>,
    /// The three services themselves.
    pub services: Services,
}

/// What the id is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Of what.
    pub kind: Kind,
    /// The order it belongs to.
    pub order_id: Uuid,
    /// The event it names, if it names one.
    pub event: Option<Uuid>,
}

/// What each service's `/readyz` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Services {
    /// The order service.
    pub order: Read<Health>,
    /// The payment service.
    pub payment: Read<Health>,
    /// The inventory service.
    pub inventory: Read<Health>,
}

/// A running service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// What it lacks, as `name: reason`; empty if it is ready.
    pub lacks: Vec<String>,
}

/// What the order service wrote down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderSide {
    /// The order.
    pub order: Option<Order>,
    /// Its saga.
    pub saga: Option<Saga>,
    /// What the saga's log tells of why it is stuck.
    pub stuck_detail: Option<String>,
    /// Messages about this order that could not be handled, and were parked.
    pub parked: Vec<Parked>,
    /// What it told.
    pub outbox: Outbox,
    /// Who holds rows that this order needs.
    pub locks: Vec<Lock>,
}

/// An order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its id.
    pub id: Uuid,
    /// `PENDING`, `CONFIRMED`, `CANCELLING`, `CANCELLED`.
    pub state: String,
    /// In minor units.
    pub total_minor: i64,
    /// ISO-4217.
    pub currency: String,
    /// Why it was cancelled, `UPPER_SNAKE`.
    pub cancel_reason: Option<String>,
    /// Why, as a sentence.
    pub cancel_message: Option<String>,
    /// When it was placed.
    pub placed: When,
    /// When it changed last.
    pub changed: When,
    /// Its saga.
    pub saga_id: Uuid,
    /// Its payment.
    pub payment_id: Uuid,
    /// Its reservation.
    pub reservation_id: Uuid,
}

/// A saga.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saga {
    /// Its id.
    pub id: Uuid,
    /// `RUNNING`, `COMPENSATING`, `COMPLETED`, `COMPENSATED`, `FAILED`.
    pub status: String,
    /// Why it waits for a person.
    pub stuck_reason: Option<String>,
    /// Where it is.
    pub step: String,
    /// `FORWARD` or `BACKWARD`.
    pub direction: String,
    /// The outstanding command.
    pub command_id: Option<String>,
    /// `SENT`, `ACKED`, `NO_ACK`, `CANNOT_CONNECT`.
    pub wait: String,
    /// What the participant said about the wait.
    pub waiting_reason: Option<String>,
    /// Sends in a row without an ack.
    pub attempt: i32,
    /// How often it asked again.
    pub asks: i32,
    /// Why it turned back, `UPPER_SNAKE`.
    pub failure_reason: Option<String>,
    /// Since when the command is outstanding.
    pub step_since: When,
    /// When it acts next by itself.
    pub next_action: Option<When>,
}

impl Saga {
    /// Whether it has not ended.
    pub fn is_live(&self) -> bool {
        matches!(self.status.as_str(), "RUNNING" | "COMPENSATING")
    }

    /// Whether the step is being undone.
    pub fn is_backward(&self) -> bool {
        self.direction == "BACKWARD"
    }
}

/// A message that was put aside for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// `ce_id`.
    pub event_id: Option<String>,
    /// Where it came from.
    pub topic: String,
    /// What was wrong with it.
    pub error: String,
    /// When it was put aside.
    pub parked: When,
}

/// A participant's decision about a command of the saga.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// Which step.
    pub step: String,
    /// `FORWARD` or `BACKWARD`.
    pub direction: String,
    /// The outcome that it keeps, once it has decided.
    pub outcome: Option<Outcome>,
}

/// A kept outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its event.
    pub event_id: Uuid,
    /// Its type, without the package.
    pub event_type: String,
}

/// What the payment service wrote down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaymentSide {
    /// The payment.
    pub payment: Option<Payment>,
    /// The latest calls to the processor, newest first.
    pub calls: Vec<GatewayCall>,
    /// What it decided.
    pub guards: Vec<Guard>,
    /// What it told.
    pub outbox: Outbox,
    /// Who holds rows that this order needs.
    pub locks: Vec<Lock>,
}

/// A payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Its id.
    pub id: Uuid,
    /// `CHARGING`, `OUTCOME_UNKNOWN`, `CHARGED`, `DECLINED`, `VOIDED`, `REFUNDING`, `REFUNDED`.
    pub status: String,
    /// What was asked for, in minor units.
    pub amount_minor: i64,
    /// ISO-4217.
    pub currency: String,
    /// What was taken.
    pub captured_minor: i64,
    /// What was given back.
    pub refunded_minor: i64,
    /// Claims in this phase.
    pub attempts: i32,
    /// When the processor is asked next.
    pub next_attempt: Option<When>,
    /// When it changed last.
    pub changed: When,
}

/// A call to the processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayCall {
    /// `CONFIRM`, `REFUND`, …
    pub operation: String,
    /// `SUCCEEDED`, `TIMED_OUT`, …
    pub result: String,
    /// The processor's own words.
    pub detail: Option<String>,
    /// When it ended.
    pub ended: When,
}

/// What the inventory service wrote down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InventorySide {
    /// The reservation.
    pub reservation: Option<Reservation>,
    /// What it decided.
    pub guards: Vec<Guard>,
    /// What it told.
    pub outbox: Outbox,
    /// Who holds rows that this order needs.
    pub locks: Vec<Lock>,
}

/// A reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Its id.
    pub id: Uuid,
    /// `PENDING`, `COMMITTED`, `RELEASED`, `EXPIRED`, `REFUSED`, `RETURNED`.
    pub state: String,
    /// When its hold ends; nothing if it never held anything.
    pub expires: Option<When>,
    /// When it changed last.
    pub changed: When,
}
