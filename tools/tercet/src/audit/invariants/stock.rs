//! Goods are neither made nor lost, and never promised twice. One snapshot: no age to wait for.

use std::time::Duration;

use super::Invariant;
use crate::audit::{Evidence, Finding};

pub(super) const EQUALS_JOURNAL: Invariant = Invariant::new(
    "STOCK_EQUALS_ITS_JOURNAL",
    "on_hand and reserved are the sums of the journal",
    equals_journal,
);

fn equals_journal(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (sku, stock) in &evidence.stock {
        let columns = [
            ("on_hand", stock.on_hand, stock.journal_on_hand),
            ("reserved", stock.reserved, stock.journal_reserved),
        ];
        for (column, is, should) in columns {
            if is != should {
                let sentence = format!("{column} is {is}, the journal adds up to {should}");
                findings.push(Finding::about("sku", sku, sentence));
            }
        }
    }
    findings
}

pub(super) const EQUALS_HOLDS: Invariant = Invariant::new(
    "RESERVED_EQUALS_THE_HOLDS",
    "reserved is the sum of the PENDING reservations",
    equals_holds,
);

fn equals_holds(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let wrong = evidence
        .stock
        .iter()
        .filter(|(_, stock)| stock.reserved != stock.pending);
    wrong
        .map(|(sku, stock)| {
            let (is, should) = (stock.reserved, stock.pending);
            let sentence = format!("reserved is {is}, the pending reservations add up to {should}");
            Finding::about("sku", sku, sentence)
        })
        .collect()
}

pub(super) const NEVER_OVERSOLD: Invariant = Invariant::new(
    "STOCK_IS_NEVER_OVERSOLD",
    "on_hand is never below reserved, nor reserved below zero",
    never_oversold,
);

fn never_oversold(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let wrong = evidence
        .stock
        .iter()
        .filter(|(_, stock)| stock.reserved < 0 || stock.on_hand < stock.reserved);
    wrong
        .map(|(sku, stock)| {
            let sentence = format!("{} on hand, {} reserved", stock.on_hand, stock.reserved);
            Finding::about("sku", sku, sentence)
        })
        .collect()
}

pub(super) const HOLDS_END: Invariant = Invariant::new(
    "HOLDS_END",
    "a hold whose time is over is given back",
    holds_end,
);

fn holds_end(evidence: &Evidence, settle: Duration) -> Vec<Finding> {
    let late = evidence
        .reservations
        .values()
        .filter(|hold| hold.state == "PENDING" && hold.overdue > settle);
    late.map(|hold| {
        let sentence = format!("still PENDING {} s after its end", hold.overdue.as_secs());
        Finding::about("reservation", hold.id, sentence).with("order", hold.order_id)
    })
    .collect()
}
