//! What this service tells of its orders: domain → event, ready for the outbox.

use prost::Name;
use serde::Serialize;
use tercet_contracts::{
    command::{CORRELATION_ID_HEADER, SAGA_ID_HEADER},
    events::v1::{MissingLine, OrderCancelled, OrderConfirmed, OrderPlaced, PricedLine},
};
use tercet_outbox::NewEvent;
use tercet_telemetry::propagation;

use crate::domain::{CancelReason, EventId, Order};

/// An order was saved and its saga began.
pub fn placed(order: &Order, topic: &str) -> Result<NewEvent, serde_json::Error> {
    let event = OrderPlaced {
        order_id: order.id.to_string(),
        occurred_at: None,
        customer_id: order.customer_id.as_str().to_owned(),
        currency: order.currency.to_string(),
        total_minor: order.total_minor,
        lines: order
            .lines
            .iter()
            .map(|line| PricedLine {
                sku: line.sku.to_string(),
                quantity: line.quantity,
                unit_price_minor: line.unit_price_minor,
            })
            .collect(),
    };
    new_event(order, topic, &event)
}

/// An order is paid and its stock is sold.
pub fn confirmed(order: &Order, topic: &str) -> Result<NewEvent, serde_json::Error> {
    let event = OrderConfirmed {
        order_id: order.id.to_string(),
        occurred_at: None,
        payment_id: order.payment_id.to_string(),
        reservation_id: order.reservation_id.to_string(),
    };
    new_event(order, topic, &event)
}

/// An order ended without goods, and without money.
pub fn cancelled(
    order: &Order,
    reason: &CancelReason,
    topic: &str,
) -> Result<NewEvent, serde_json::Error> {
    let event = OrderCancelled {
        order_id: order.id.to_string(),
        occurred_at: None,
        reason: reason.reason.clone(),
        message: reason.message.clone(),
        missing_lines: reason
            .missing_lines
            .iter()
            .map(|line| MissingLine {
                sku: line.sku.to_string(),
                requested: line.requested,
                available: line.available,
            })
            .collect(),
    };
    new_event(order, topic, &event)
}

/// The order's version is the event's; `occurred_at` is set by the database as it is written.
fn new_event<E: Name + Serialize>(
    order: &Order,
    topic: &str,
    event: &E,
) -> Result<NewEvent, serde_json::Error> {
    let saga_id = order.saga_id.to_string();
    let mut headers = propagation::current_headers();
    headers.insert(SAGA_ID_HEADER.to_owned(), saga_id.clone());
    headers.insert(CORRELATION_ID_HEADER.to_owned(), saga_id);
    Ok(NewEvent {
        event_id: EventId::new().uuid(),
        aggregate_type: "order".to_owned(),
        aggregate_id: order.id.to_string(),
        aggregate_version: order.version,
        topic: topic.to_owned(),
        event_type: E::full_name(),
        payload: serde_json::to_value(event)?,
        headers,
    })
}
