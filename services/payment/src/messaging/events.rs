//! Domain event → message of `tercet.events.v1`, as ProtoJSON, with the headers that go with it.

use serde::Serialize;
use tercet_contracts::{
    command::{FINAL, INFO, outcome_headers},
    events::v1 as pb,
};
use tercet_outbox::NewEvent;
use tercet_telemetry::propagation::current_headers;

use crate::domain::{Answers, CommandRef, EventId, Fact, PaymentEvent};

const AGGREGATE: &str = "payment";

/// The event as it answers `command`. `occurredAt` is set by the database's clock, as it is written.
pub fn outcome(
    topic: &str,
    event: &PaymentEvent,
    command: &CommandRef,
) -> Result<NewEvent, serde_json::Error> {
    let outcome = match event.fact.answers() {
        Answers::Charge | Answers::Undo => FINAL,
        Answers::UndoMeanwhile => INFO,
    };
    let mut headers = current_headers();
    headers.extend(outcome_headers(
        command.saga_id,
        &command.command_id,
        outcome,
    ));
    let (name, payload) = render(event);
    Ok(NewEvent {
        event_id: EventId::new().uuid(),
        aggregate_type: AGGREGATE.to_owned(),
        aggregate_id: event.payment_id.to_string(),
        aggregate_version: event.version,
        topic: topic.to_owned(),
        event_type: format!("tercet.events.v1.{name}"),
        payload: payload?,
        headers,
    })
}

type Rendered = (&'static str, Result<serde_json::Value, serde_json::Error>);

fn render(event: &PaymentEvent) -> Rendered {
    let payment_id = event.payment_id.to_string();
    let order_id = event.order_id.to_string();
    let occurred_at = None;
    match &event.fact {
        Fact::Charged { amount } => message(
            "PaymentCharged",
            &pb::PaymentCharged {
                payment_id,
                occurred_at,
                order_id,
                amount_minor: amount.minor(),
                currency: amount.currency().to_string(),
            },
        ),
        Fact::Declined { reason } => message(
            "PaymentDeclined",
            &pb::PaymentDeclined {
                payment_id,
                occurred_at,
                order_id,
                reason: reason.to_string(),
            },
        ),
        Fact::Voided { changed } => message(
            "PaymentVoided",
            &pb::PaymentVoided {
                payment_id,
                occurred_at,
                order_id,
                changed: *changed,
            },
        ),
        Fact::Refunded { amount, changed } => message(
            "PaymentRefunded",
            &pb::PaymentRefunded {
                payment_id,
                occurred_at,
                order_id,
                amount_minor: amount.minor(),
                currency: amount.currency().to_string(),
                changed: *changed,
            },
        ),
        Fact::RefundDelayed { reason } => message(
            "RefundDelayed",
            &pb::RefundDelayed {
                payment_id,
                occurred_at,
                order_id,
                reason: reason.to_string(),
            },
        ),
        Fact::RefundRefused { reason } => message(
            "RefundRefused",
            &pb::RefundRefused {
                payment_id,
                occurred_at,
                order_id,
                reason: reason.to_string(),
            },
        ),
    }
}

fn message(name: &'static str, message: &impl Serialize) -> Rendered {
    (name, serde_json::to_value(message))
}
