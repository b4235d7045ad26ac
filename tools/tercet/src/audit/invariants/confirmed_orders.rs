//! A confirmed order is paid once and has its goods.

use std::time::Duration;

use super::{Invariant, settled};
use crate::{
    audit::{
        Evidence, Finding,
        evidence::{Account, Order},
    },
    view::money,
};

pub(super) const PAID_ONCE: Invariant = Invariant::new(
    "CONFIRMED_IS_PAID_ONCE",
    "CONFIRMED means one charge at the processor over the exact total, nothing given back",
    paid_once,
);

fn paid_once(evidence: &Evidence, settle: Duration) -> Vec<Finding> {
    let orders = settled(evidence, "CONFIRMED", settle);
    let wrong = orders.filter_map(|order| {
        let sentence = unpaid(order, evidence.books.of(order.payment_id))?;
        Some(Finding::about("order", order.id, sentence).with("payment", order.payment_id))
    });
    wrong.collect()
}

/// What is wrong with how `order` was paid.
fn unpaid(order: &Order, account: &Account) -> Option<String> {
    let total = money(order.total_minor, &order.currency);
    match account.charges.as_slice() {
        [] => {
            return Some(format!(
                "confirmed over {total}, and the processor took nothing"
            ));
        }
        [charge] => {
            let is_exact = charge.amount == order.total_minor
                && charge.currency.eq_ignore_ascii_case(&order.currency);
            if !is_exact {
                let taken = money(charge.amount, &charge.currency.to_uppercase());
                return Some(format!(
                    "confirmed over {total}, and the processor took {taken}"
                ));
            }
        }
        charges => return Some(format!("confirmed, and charged {} times", charges.len())),
    }
    let refunded = account.refunded();
    (refunded != 0).then(|| {
        let refunded = money(refunded, &order.currency);
        format!("confirmed, and {refunded} of {total} were given back")
    })
}

pub(super) const HAS_ITS_GOODS: Invariant = Invariant::new(
    "CONFIRMED_HAS_ITS_GOODS",
    "CONFIRMED means a COMMITTED reservation of exactly the basket",
    has_its_goods,
);

fn has_its_goods(evidence: &Evidence, settle: Duration) -> Vec<Finding> {
    let wrong = settled(evidence, "CONFIRMED", settle).filter_map(|order| {
        let sentence = match evidence.reservations.get(&order.reservation_id) {
            None => "confirmed, and its reservation does not exist".to_owned(),
            Some(hold) if hold.state != "COMMITTED" => {
                format!("confirmed, and its reservation is {}", hold.state)
            }
            Some(hold) if hold.lines != order.lines => {
                "confirmed, and its reservation holds another basket".to_owned()
            }
            Some(_) => return None,
        };
        Some(Finding::about("order", order.id, sentence).with("reservation", order.reservation_id))
    });
    wrong.collect()
}
