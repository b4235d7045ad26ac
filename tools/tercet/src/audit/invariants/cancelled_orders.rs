//! A cancelled order cost nothing and holds nothing.

use std::time::Duration;

use super::{Invariant, settled};
use crate::{
    audit::{Evidence, Finding},
    view::money,
};

pub(super) const MONEY_BACK: Invariant = Invariant::new(
    "CANCELLED_GAVE_MONEY_BACK",
    "CANCELLED means that what was taken was given back, and nothing can be taken any more",
    money_back,
);

fn money_back(evidence: &Evidence, settle: Duration) -> Vec<Finding> {
    let wrong = settled(evidence, "CANCELLED", settle).filter_map(|order| {
        let account = evidence.books.of(order.payment_id);
        let (captured, refunded) = (account.captured(), account.refunded());
        let payment = evidence.payments.get(&order.payment_id);
        let sentence = if captured != refunded {
            let captured = money(captured, &order.currency);
            let refunded = money(refunded, &order.currency);
            format!("cancelled, {captured} taken and {refunded} given back")
        } else if let Some(payment) = payment.filter(|payment| payment.is_open()) {
            format!("cancelled while its payment was still {}", payment.state)
        } else if payment.is_some_and(|payment| payment.state == "CHARGED") {
            "cancelled, and its payment is still CHARGED".to_owned()
        } else {
            return None;
        };
        Some(Finding::about("order", order.id, sentence).with("payment", order.payment_id))
    });
    wrong.collect()
}

pub(super) const HOLDS_NOTHING: Invariant = Invariant::new(
    "CANCELLED_HOLDS_NOTHING",
    "CANCELLED means that no stock is held or sold for it",
    holds_nothing,
);

fn holds_nothing(evidence: &Evidence, settle: Duration) -> Vec<Finding> {
    let wrong = settled(evidence, "CANCELLED", settle).filter_map(|order| {
        let hold = evidence.reservations.get(&order.reservation_id)?;
        matches!(hold.state.as_str(), "PENDING" | "COMMITTED").then(|| {
            let sentence = format!("cancelled, and its reservation is {}", hold.state);
            Finding::about("order", order.id, sentence).with("reservation", hold.id)
        })
    });
    wrong.collect()
}
