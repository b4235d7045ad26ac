//! Domain event → message of `tercet.events.v1`, as ProtoJSON, with the headers that go with it.

use std::collections::BTreeMap;

use serde::Serialize;
use tercet_contracts::{
    command::{FINAL, outcome_headers},
    events::v1 as pb,
};
use tercet_inbox::guard::CommandKey;
use tercet_outbox::NewEvent;
use tercet_telemetry::propagation::current_headers;

use crate::domain::{EventId, Fact, Line, MissingLine, ReservationEvent};

const AGGREGATE: &str = "reservation";

/// The event as the outcome of `command`.
pub fn outcome(
    topic: &str,
    event: &ReservationEvent,
    command: &CommandKey,
) -> Result<NewEvent, serde_json::Error> {
    let mut message = fact(topic, event)?;
    let headers = outcome_headers(command.saga_id, &command.command_id, FINAL);
    message.headers.extend(headers);
    Ok(message)
}

/// The event by itself.
pub fn fact(topic: &str, event: &ReservationEvent) -> Result<NewEvent, serde_json::Error> {
    let reservation_id = event.reservation_id.to_string();
    let order_id = event.order_id.to_string();
    let (event_type, payload) = match &event.fact {
        Fact::Reserved { lines, expires_at } => rendered(
            "StockReserved",
            &pb::StockReserved {
                reservation_id: reservation_id.clone(),
                occurred_at: None, // by the database's clock, as it is written
                order_id,
                lines: lines.iter().map(line).collect(),
                expire_time: Some((*expires_at).into()),
            },
        ),
        Fact::ReservationRefused { missing_lines } => rendered(
            "ReservationRefused",
            &pb::ReservationRefused {
                reservation_id: reservation_id.clone(),
                occurred_at: None,
                order_id,
                reason: "OUT_OF_STOCK".to_owned(),
                missing_lines: missing_lines.iter().map(missing_line).collect(),
            },
        ),
        Fact::Committed { after_expiry } => rendered(
            "ReservationCommitted",
            &pb::ReservationCommitted {
                reservation_id: reservation_id.clone(),
                occurred_at: None,
                order_id,
                after_expiry: *after_expiry,
            },
        ),
        Fact::CommitRefused { missing_lines } => rendered(
            "CommitRefused",
            &pb::CommitRefused {
                reservation_id: reservation_id.clone(),
                occurred_at: None,
                order_id,
                reason: "HOLD_EXPIRED".to_owned(),
                missing_lines: missing_lines.iter().map(missing_line).collect(),
            },
        ),
        Fact::Released { changed } => rendered(
            "ReservationReleased",
            &pb::ReservationReleased {
                reservation_id: reservation_id.clone(),
                occurred_at: None,
                order_id,
                changed: *changed,
            },
        ),
        Fact::Expired => rendered(
            "ReservationExpired",
            &pb::ReservationExpired {
                reservation_id: reservation_id.clone(),
                occurred_at: None,
                order_id,
            },
        ),
    }?;
    Ok(NewEvent {
        event_id: EventId::new().uuid(),
        aggregate_type: AGGREGATE.to_owned(),
        aggregate_id: reservation_id,
        aggregate_version: event.version,
        topic: topic.to_owned(),
        event_type,
        payload,
        headers: traced(),
    })
}

fn rendered(
    name: &str,
    message: &impl Serialize,
) -> Result<(String, serde_json::Value), serde_json::Error> {
    let event_type = format!("tercet.events.v1.{name}");
    Ok((event_type, serde_json::to_value(message)?))
}

fn traced() -> BTreeMap<String, String> {
    current_headers()
}

fn line(line: &Line) -> pb::StockLine {
    pb::StockLine {
        sku: line.sku.to_string(),
        quantity: line.quantity.get(),
    }
}

fn missing_line(line: &MissingLine) -> pb::MissingLine {
    pb::MissingLine {
        sku: line.sku.to_string(),
        requested: line.requested,
        available: line.available,
    }
}
