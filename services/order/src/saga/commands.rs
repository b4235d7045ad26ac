//! Commands on the wire: domain → proto.

use tercet_contracts::{inventory::v1 as inventory, payment::v1 as payment, saga::v1 as pb};
use tercet_saga::Direction;
use tercet_saga_postgres::Outgoing;

use super::place_order::Command;
use crate::domain::Sku;

/// A command as its participant takes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wire {
    Reserve(inventory::ReserveStockRequest),
    Commit(inventory::CommitReservationRequest),
    Release(inventory::ReleaseReservationRequest),
    Charge(payment::ChargePaymentRequest),
    Refund(payment::RefundPaymentRequest),
}

impl Wire {
    /// The method it calls, for the span's name.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Reserve(_) => "tercet.inventory.v1.InventoryService/ReserveStock",
            Self::Commit(_) => "tercet.inventory.v1.InventoryService/CommitReservation",
            Self::Release(_) => "tercet.inventory.v1.InventoryService/ReleaseReservation",
            Self::Charge(_) => "tercet.payment.v1.PaymentService/ChargePayment",
            Self::Refund(_) => "tercet.payment.v1.PaymentService/RefundPayment",
        }
    }
}

pub(super) fn encode(outgoing: &Outgoing<Command>) -> Wire {
    let context = Some(context(outgoing));
    match &outgoing.command {
        Command::ReserveStock {
            reservation_id,
            order_id,
            lines,
            hold_ttl,
        } => Wire::Reserve(inventory::ReserveStockRequest {
            context,
            reservation_id: reservation_id.to_string(),
            order_id: order_id.to_string(),
            lines: stock_lines(lines),
            hold_ttl: Some((*hold_ttl).into()),
        }),
        Command::CommitReservation { reservation_id } => {
            Wire::Commit(inventory::CommitReservationRequest {
                context,
                reservation_id: reservation_id.to_string(),
            })
        }
        Command::ReleaseReservation {
            reservation_id,
            order_id,
        } => Wire::Release(inventory::ReleaseReservationRequest {
            context,
            reservation_id: reservation_id.to_string(),
            order_id: order_id.to_string(),
        }),
        Command::ChargePayment {
            payment_id,
            order_id,
            total_minor,
            currency,
            payment_method,
        } => Wire::Charge(payment::ChargePaymentRequest {
            context,
            payment_id: payment_id.to_string(),
            order_id: order_id.to_string(),
            amount_minor: *total_minor,
            currency: currency.to_string(),
            payment_method: payment_method.as_str().to_owned(),
        }),
        Command::RefundPayment {
            payment_id,
            order_id,
            total_minor,
            currency,
        } => Wire::Refund(payment::RefundPaymentRequest {
            context,
            payment_id: payment_id.to_string(),
            order_id: order_id.to_string(),
            amount_minor: *total_minor,
            currency: currency.to_string(),
        }),
    }
}

fn context(outgoing: &Outgoing<Command>) -> pb::CommandContext {
    let direction = match outgoing.direction {
        Direction::Forward => pb::Direction::Forward,
        Direction::Backward => pb::Direction::Backward,
    };
    pb::CommandContext {
        saga_id: outgoing.saga_id.to_string(),
        command_id: outgoing.command_id.clone(),
        step: outgoing.step.to_owned(),
        direction: direction.into(),
        epoch: outgoing.epoch,
    }
}

fn stock_lines(lines: &[(Sku, i64)]) -> Vec<inventory::StockLine> {
    lines
        .iter()
        .map(|(sku, quantity)| inventory::StockLine {
            sku: sku.to_string(),
            quantity: *quantity,
        })
        .collect()
}
