//! What must be true: each invariant a function without IO, one idea a file.

mod cancelled_orders;
mod commands;
mod confirmed_orders;
mod events;
mod money;
mod sagas;
mod stock;
mod topics;

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::audit::{Evidence, Finding, evidence::Order};

/// Something that must be true.
#[derive(Debug, Clone, Copy)]
pub struct Invariant {
    /// `UPPER_SNAKE`; part of the JSON output.
    pub name: &'static str,
    /// The promise, in one sentence.
    pub promise: &'static str,
    pub(super) check: fn(&Evidence, Duration) -> Vec<Finding>,
    pub(super) skips: fn(&Evidence) -> Option<String>,
}

impl Invariant {
    const fn new(
        name: &'static str,
        promise: &'static str,
        check: fn(&Evidence, Duration) -> Vec<Finding>,
    ) -> Self {
        Self {
            name,
            promise,
            check,
            skips: |_| None,
        }
    }

    const fn unless(mut self, skips: fn(&Evidence) -> Option<String>) -> Self {
        self.skips = skips;
        self
    }
}

/// All of them, in the order of the report.
pub const ALL: &[Invariant] = &[
    sagas::ENDS_OR_IS_STUCK,
    sagas::HAS_TIMER_OR_COMMAND,
    sagas::AGREES_WITH_ITS_ORDER,
    confirmed_orders::PAID_ONCE,
    confirmed_orders::HAS_ITS_GOODS,
    cancelled_orders::MONEY_BACK,
    cancelled_orders::HOLDS_NOTHING,
    money::CAPTURED_IS_CONFIRMED,
    money::CHARGED_ONCE,
    money::REFUNDED_ONCE,
    money::REFUND_KEY,
    money::BOOKS_AGREE,
    stock::EQUALS_JOURNAL,
    stock::EQUALS_HOLDS,
    stock::NEVER_OVERSOLD,
    stock::HOLDS_END,
    events::PUBLISHED,
    events::NO_GAPS,
    events::ONE_OUTCOME,
    commands::DECIDED,
    topics::HOLD_EVERY_EVENT,
    topics::IN_VERSION_ORDER,
];

/// The orders whose saga ended longer than `settle` ago: nothing of theirs is in flight any more.
/// Orders that a person closed are listed elsewhere, not judged.
fn settled<'a>(
    evidence: &'a Evidence,
    state: &'a str,
    settle: Duration,
) -> impl Iterator<Item = &'a Order> {
    evidence.orders.values().filter(move |order| {
        order.state == state
            && order.age >= settle
            && evidence.saga_of(order).is_some_and(|saga| {
                !saga.is_open() && !saga.was_closed_by_a_person() && saga.age >= settle
            })
    })
}
