//! An order.

use std::fmt::Write as _;

use serde::Serialize;
use tercet_contracts::order::v1 as pb;

use crate::{
    screen::{Ink, Record, Tone},
    view::{clock, money, state, timestamp},
};

/// An order as JSON and as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderView {
    /// The order's id.
    pub order_id: String,
    /// Whose it is.
    pub customer_id: String,
    /// `PENDING`, `CONFIRMED`, `CANCELLING` or `CANCELLED`.
    pub state: String,
    /// A sentence: what happens to it right now.
    pub stage: String,
    /// ISO-4217.
    pub currency: String,
    /// In minor units.
    pub total_minor: i64,
    /// The processor's token for the card.
    pub payment_method: String,
    /// The basket.
    pub lines: Vec<LineView>,
    /// Why it was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<CancelView>,
    /// The saga that runs it.
    pub saga_id: String,
    /// Its payment.
    pub payment_id: String,
    /// Its hold on the stock.
    pub reservation_id: String,
    /// When it was placed.
    pub create_time: Option<String>,
    /// When it last changed.
    pub update_time: Option<String>,
    /// Rises with every event of the order.
    pub version: i64,
}

/// A line of the basket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineView {
    /// What.
    pub sku: String,
    /// How many.
    pub quantity: i64,
    /// What one costs, in minor units.
    pub unit_price_minor: i64,
}

/// Why an order was cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CancelView {
    /// `UPPER_SNAKE`.
    pub reason: String,
    /// A sentence.
    pub message: String,
    /// What could not be had.
    pub missing_lines: Vec<MissingView>,
}

/// A line that could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingView {
    /// What.
    pub sku: String,
    /// How many were wanted.
    pub requested: i64,
    /// How many there were.
    pub available: i64,
}

impl From<pb::Order> for OrderView {
    fn from(order: pb::Order) -> Self {
        let state = state(order.state().as_str_name(), "STATE_");
        Self {
            order_id: order.order_id,
            customer_id: order.customer_id,
            state,
            stage: order.stage,
            currency: order.currency,
            total_minor: order.total_minor,
            payment_method: order.payment_method,
            lines: order.lines.into_iter().map(LineView::from).collect(),
            cancel_reason: order.cancel_reason.map(CancelView::from),
            saga_id: order.saga_id,
            payment_id: order.payment_id,
            reservation_id: order.reservation_id,
            create_time: timestamp(order.create_time),
            update_time: timestamp(order.update_time),
            version: order.version,
        }
    }
}

impl From<pb::OrderLine> for LineView {
    fn from(line: pb::OrderLine) -> Self {
        Self {
            sku: line.sku,
            quantity: line.quantity,
            unit_price_minor: line.unit_price_minor,
        }
    }
}

impl From<pb::CancelReason> for CancelView {
    fn from(reason: pb::CancelReason) -> Self {
        let missing = reason.missing_lines.into_iter();
        Self {
            reason: reason.reason,
            message: reason.message,
            missing_lines: missing
                .map(|line| MissingView {
                    sku: line.sku,
                    requested: line.requested,
                    available: line.available,
                })
                .collect(),
        }
    }
}

impl OrderView {
    /// Whether nothing will happen to it any more by itself.
    pub fn has_ended(&self) -> bool {
        matches!(self.state.as_str(), "CONFIRMED" | "CANCELLED")
    }

    /// The basket in words: `2 × TEA-GREEN, 1 × CUP`.
    pub fn basket(&self) -> String {
        let lines = self
            .lines
            .iter()
            .map(|line| format!("{} × {}", line.quantity, line.sku));
        lines.collect::<Vec<_>>().join(", ")
    }

    /// The state, in the colour of its meaning.
    pub fn state_in(&self, ink: Ink) -> String {
        match self.tone() {
            Tone::Good => ink.good(&self.state),
            Tone::Bad => ink.bad(&self.state),
            _ => ink.warn(&self.state),
        }
    }

    /// Everything about it, for people.
    pub fn draw(&self, ink: Ink) -> String {
        let mut text = String::new();
        let mut field = |name: &str, value: &str| {
            if !value.is_empty() {
                let _ = writeln!(text, "{} {value}", ink.dim(&format!("{name:<12}")));
            }
        };
        field("order", &ink.bold(&self.order_id));
        field("state", &self.state_in(ink));
        field("stage", &self.stage);
        field("customer", &self.customer_id);
        field("basket", &self.basket());
        field("total", &money(self.total_minor, &self.currency));
        field("card", &self.payment_method);
        if let Some(reason) = &self.cancel_reason {
            field("because", &reason.sentence());
        }
        field("saga", &self.saga_id);
        field("payment", &self.payment_id);
        field("reservation", &self.reservation_id);
        field("placed", &clock(self.create_time.as_deref()));
        field("changed", &clock(self.update_time.as_deref()));
        text.trim_end().to_owned()
    }

    fn tone(&self) -> Tone {
        match self.state.as_str() {
            "CONFIRMED" => Tone::Good,
            "CANCELLED" => Tone::Bad,
            _ => Tone::Warn,
        }
    }
}

impl CancelView {
    /// The reason, the message, and what was missing.
    pub fn sentence(&self) -> String {
        let mut text = self.reason.clone();
        if !self.message.is_empty() {
            let _ = write!(text, ": {}", self.message);
        }
        if !self.missing_lines.is_empty() {
            let missing = self.missing_lines.iter().map(MissingView::sentence);
            let _ = write!(text, " ({})", missing.collect::<Vec<_>>().join("; "));
        }
        text
    }
}

impl MissingView {
    /// `TEA-GREEN: 5 wanted, 2 there`.
    pub fn sentence(&self) -> String {
        format!(
            "{}: {} wanted, {} there",
            self.sku, self.requested, self.available
        )
    }
}

impl Record for OrderView {
    const HEADINGS: &'static [&'static str] = &["ORDER", "STATE", "TOTAL", "BASKET", "PLACED"];
    const EMPTY: &'static str = "no orders";

    fn cells(&self) -> Vec<(String, Tone)> {
        vec![
            (self.order_id.clone(), Tone::Plain),
            (self.state.clone(), self.tone()),
            (money(self.total_minor, &self.currency), Tone::Number),
            (self.basket(), Tone::Plain),
            (clock(self.create_time.as_deref()), Tone::Dim),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cancelled() -> OrderView {
        OrderView::from(pb::Order {
            order_id: "0192".into(),
            customer_id: "ada".into(),
            state: pb::order::State::Cancelled.into(),
            currency: "EUR".into(),
            total_minor: 2450,
            lines: vec![pb::OrderLine {
                sku: "CUP".into(),
                quantity: 5,
                unit_price_minor: 490,
            }],
            cancel_reason: Some(pb::CancelReason {
                reason: "OUT_OF_STOCK".into(),
                message: "the basket could not be held".into(),
                missing_lines: vec![pb::MissingLine {
                    sku: "CUP".into(),
                    requested: 5,
                    available: 2,
                }],
            }),
            ..pb::Order::default()
        })
    }

    #[test]
    fn an_order_is_drawn_without_its_empty_fields() {
        assert_eq!(
            cancelled().draw(Ink::PLAIN),
            "order        0192\n\
             state        CANCELLED\n\
             customer     ada\n\
             basket       5 × CUP\n\
             total        24.50 EUR\n\
             because      OUT_OF_STOCK: the basket could not be held (CUP: 5 wanted, 2 there)"
        );
    }

    #[test]
    fn the_json_names_are_the_contract() {
        let json = serde_json::to_value(cancelled()).unwrap();
        assert_eq!(json["state"], "CANCELLED");
        assert_eq!(json["total_minor"], 2450);
        assert_eq!(json["cancel_reason"]["missing_lines"][0]["available"], 2);
    }
}
