//! An order, its states, and why it may have ended without goods.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::domain::{
    Currency, CustomerId, Money, OrderId, PaymentId, PaymentMethod, ReservationId, SagaId, Sku,
};

/// Where an order stands. PENDING lasts as long as its saga runs or compensates; CANCELLING belongs
/// to the cancellation of a CONFIRMED order alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OrderState {
    Pending,
    Confirmed,
    Cancelling,
    Cancelled,
}

/// The text names no state of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no state of an order")]
pub struct UnknownState(pub String);

/// A line with the price that the server gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PricedLine {
    pub sku: Sku,
    pub quantity: i64,
    pub unit_price_minor: i64,
}

/// A checked and priced order that nobody has saved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOrder {
    pub customer_id: CustomerId,
    pub payment_method: PaymentMethod,
    pub lines: Vec<PricedLine>,
    pub total: Money,
}

/// A saved order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub id: OrderId,
    pub customer_id: CustomerId,
    pub state: OrderState,
    pub currency: Currency,
    pub total_minor: i64,
    pub payment_method: PaymentMethod,
    pub lines: Vec<PricedLine>,
    pub cancel_reason: Option<CancelReason>,
    pub saga_id: SagaId,
    pub payment_id: PaymentId,
    pub reservation_id: ReservationId,
    /// Rises with every event of the order, by one.
    pub version: i64,
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    pub updated_at: OffsetDateTime,
}

/// The ids that one order's run uses, chosen before anything is sent.
#[derive(Clone, Copy, Debug)]
pub struct OrderIds {
    pub order: OrderId,
    pub saga: SagaId,
    pub payment: PaymentId,
    pub reservation: ReservationId,
}

/// Why an order was cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelReason {
    /// `UPPER_SNAKE`, for example `OUT_OF_STOCK`.
    pub reason: String,
    pub message: String,
    /// The lines that could not be had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_lines: Vec<MissingLine>,
}

/// A line of which there was not enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingLine {
    pub sku: Sku,
    pub requested: i64,
    pub available: i64,
}

impl OrderState {
    pub const ALL: [Self; 4] = [
        Self::Pending,
        Self::Confirmed,
        Self::Cancelling,
        Self::Cancelled,
    ];

    /// As stored and as people read it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Confirmed => "CONFIRMED",
            Self::Cancelling => "CANCELLING",
            Self::Cancelled => "CANCELLED",
        }
    }

    pub fn parse(text: &str) -> Result<Self, UnknownState> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| UnknownState(text.to_owned()))
    }

    /// No further change will come by itself: a watcher is done.
    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Confirmed | Self::Cancelled)
    }
}

impl OrderIds {
    #[allow(
        clippy::new_without_default,
        reason = "a default that differs each time misleads"
    )]
    pub fn new() -> Self {
        Self {
            order: OrderId::new(),
            saga: SagaId::new(),
            payment: PaymentId::new(),
            reservation: ReservationId::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_read_as_it_was_written() {
        for state in OrderState::ALL {
            assert_eq!(OrderState::parse(state.as_str()), Ok(state));
            let json = serde_json::to_value(state).unwrap();
            assert_eq!(json, state.as_str());
        }
    }
}
