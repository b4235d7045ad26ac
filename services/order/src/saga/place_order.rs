//! Place an order: reserve stock, charge the card, commit the stock, confirm. Undone from the last
//! finished step back; nothing is undone once the stock is committed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tercet_saga::{Failure, Notice, Saga, Step, Verdict};
use time::OffsetDateTime;

use crate::domain::{
    CancelReason, Currency, MissingLine, OrderId, PaymentId, PaymentMethod, ReservationId, Sku,
};

pub const RESERVE_STOCK: &str = "reserve-stock";
pub const CHARGE_PAYMENT: &str = "charge-payment";
pub const COMMIT_STOCK: &str = "commit-stock";
pub const CONFIRM_ORDER: &str = "confirm-order";

// === parameters ===

/// What every step and every undo is made from. Saved before the first command is sent, so that an
/// undo knows all it needs even if the step was never heard of again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderInProgress {
    pub order_id: OrderId,
    pub reservation_id: ReservationId,
    pub payment_id: PaymentId,
    /// As pairs, to stay small.
    pub lines: Vec<(Sku, i64)>,
    pub hold_ttl_seconds: u32,
    pub total_minor: i64,
    pub currency: Currency,
    pub payment_method: PaymentMethod,
}

/// What is asked of inventory and payment.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    ReserveStock {
        reservation_id: ReservationId,
        order_id: OrderId,
        lines: Vec<(Sku, i64)>,
        hold_ttl: Duration,
    },
    ChargePayment {
        payment_id: PaymentId,
        order_id: OrderId,
        total_minor: i64,
        currency: Currency,
        payment_method: PaymentMethod,
    },
    CommitReservation {
        reservation_id: ReservationId,
    },
    RefundPayment {
        payment_id: PaymentId,
        order_id: OrderId,
        total_minor: i64,
        currency: Currency,
    },
    ReleaseReservation {
        reservation_id: ReservationId,
        order_id: OrderId,
    },
}

/// What inventory and payment answer, by Kafka or in a DECIDED ack.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    StockReserved {
        expires_at: Option<OffsetDateTime>,
    },
    ReservationRefused {
        reason: String,
        missing_lines: Vec<MissingLine>,
    },
    PaymentCharged,
    PaymentDeclined {
        reason: String,
    },
    ReservationCommitted {
        after_expiry: bool,
    },
    CommitRefused {
        reason: String,
        missing_lines: Vec<MissingLine>,
    },
    PaymentRefunded {
        changed: bool,
    },
    PaymentVoided {
        changed: bool,
    },
    RefundDelayed {
        reason: String,
    },
    RefundRefused {
        reason: String,
    },
    ReservationReleased {
        changed: bool,
    },
}

/// What happens in this service's own database, inside the transition's transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Local {
    ConfirmOrder,
    CancelOrder(CancelReason),
}

/// The saga; see the module.
#[derive(Clone, Copy, Debug)]
pub struct PlaceOrder;

// === definition ===

impl Saga for PlaceOrder {
    const NAME: &'static str = "place-order";
    const VERSION: u32 = 1;
    type Data = OrderInProgress;
    type Command = Command;
    type Local = Local;
    type Reply = Reply;

    fn steps() -> Vec<Step<Self>> {
        vec![
            Step::compensatable(RESERVE_STOCK, reserve_stock).undo(release_reservation),
            Step::compensatable(CHARGE_PAYMENT, charge_payment).undo(refund_payment),
            Step::pivot(COMMIT_STOCK, commit_reservation),
            Step::retriable_local(CONFIRM_ORDER, confirm_order),
        ]
    }

    fn judge(reply: &Reply) -> Verdict {
        judge(reply)
    }

    fn compensated(_: &OrderInProgress, failure: &Failure) -> Option<Local> {
        Some(cancel_order(failure))
    }
}

// === steps and undos, in the order in which they run ===

fn reserve_stock(order: &OrderInProgress) -> Command {
    Command::ReserveStock {
        reservation_id: order.reservation_id,
        order_id: order.order_id,
        lines: order.lines.clone(),
        hold_ttl: Duration::from_secs(order.hold_ttl_seconds.into()),
    }
}

fn charge_payment(order: &OrderInProgress) -> Command {
    Command::ChargePayment {
        payment_id: order.payment_id,
        order_id: order.order_id,
        total_minor: order.total_minor,
        currency: order.currency,
        payment_method: order.payment_method.clone(),
    }
}

fn commit_reservation(order: &OrderInProgress) -> Command {
    Command::CommitReservation {
        reservation_id: order.reservation_id,
    }
}

fn confirm_order(_: &OrderInProgress) -> Local {
    Local::ConfirmOrder
}

fn refund_payment(order: &OrderInProgress) -> Command {
    Command::RefundPayment {
        payment_id: order.payment_id,
        order_id: order.order_id,
        total_minor: order.total_minor,
        currency: order.currency,
    }
}

fn release_reservation(order: &OrderInProgress) -> Command {
    Command::ReleaseReservation {
        reservation_id: order.reservation_id,
        order_id: order.order_id,
    }
}

fn cancel_order(failure: &Failure) -> Local {
    let missing_lines = failure
        .detail
        .get("missing_lines")
        .cloned()
        .unwrap_or_default();
    Local::CancelOrder(CancelReason {
        reason: failure.reason.clone(),
        message: failure.message.clone(),
        // Only `refused` writes it; whatever else stands there is no line of this order.
        missing_lines: serde_json::from_value(missing_lines).unwrap_or_default(),
    })
}

// === what the replies mean ===

fn judge(reply: &Reply) -> Verdict {
    match reply {
        Reply::StockReserved { .. }
        | Reply::PaymentCharged
        | Reply::ReservationCommitted { .. }
        | Reply::PaymentRefunded { .. }
        | Reply::PaymentVoided { .. }
        | Reply::ReservationReleased { .. } => Verdict::Succeeded,
        Reply::ReservationRefused {
            reason,
            missing_lines,
        } => Verdict::Refused(refused(
            reason,
            "the stock could not be reserved",
            missing_lines,
        )),
        Reply::PaymentDeclined { reason } => {
            Verdict::Refused(refused(reason, "the payment was declined", &[]))
        }
        Reply::CommitRefused {
            reason,
            missing_lines,
        } => Verdict::Refused(refused(
            reason,
            "the hold had expired and the stock was gone",
            missing_lines,
        )),
        // Both tell of an undo that goes on: they end no step.
        Reply::RefundDelayed { reason } => Verdict::Info(Notice::Waiting(reason.clone())),
        Reply::RefundRefused { reason } => Verdict::Info(Notice::Stuck(reason.clone())),
    }
}

fn refused(reason: &str, message: &str, missing_lines: &[MissingLine]) -> Failure {
    Failure {
        reason: reason.to_owned(),
        message: message.to_owned(),
        detail: json!({ "missing_lines": missing_lines }),
    }
}

#[cfg(test)]
mod tests;
