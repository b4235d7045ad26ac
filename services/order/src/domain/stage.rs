//! Where an order stands, in words for whoever waits for it.

use serde::{Deserialize, Serialize};
use tercet_saga::Direction;

use crate::{
    domain::{Order, OrderState},
    saga::place_order::{CHARGE_PAYMENT, COMMIT_STOCK, CONFIRM_ORDER, RESERVE_STOCK},
};

/// What a sentence is made of: where the order's saga stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub step: String,
    pub direction: Direction,
    /// `UPPER_SNAKE`, set while the saga waits for a person.
    pub stuck_reason: Option<String>,
}

/// An order as a client sees it. Stored as the answer to its idempotency key, so that a repeat sees
/// the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    pub order: Order,
    /// A sentence for people, for example "payment is being confirmed".
    pub stage: String,
}

impl Snapshot {
    pub fn new(order: Order, progress: Option<&Progress>) -> Self {
        let stage = sentence(order.state, progress);
        Self { order, stage }
    }
}

/// An order that has ended needs no saga to say so.
fn sentence(state: OrderState, progress: Option<&Progress>) -> String {
    match (state, progress) {
        (OrderState::Confirmed, _) => "confirmed".to_owned(),
        (OrderState::Cancelled, _) => "cancelled".to_owned(),
        (OrderState::Pending, None) => "not started yet".to_owned(),
        (OrderState::Cancelling, None) => "being cancelled".to_owned(),
        (_, Some(progress)) => running(progress),
    }
}

fn running(progress: &Progress) -> String {
    use Direction::{Backward, Forward};
    let doing = match (progress.step.as_str(), progress.direction) {
        (RESERVE_STOCK, Forward) => "stock is being reserved".to_owned(),
        (CHARGE_PAYMENT, Forward) => "payment is being confirmed".to_owned(),
        (COMMIT_STOCK, _) => "stock is being committed".to_owned(),
        (CONFIRM_ORDER, _) => "order is being confirmed".to_owned(),
        (CHARGE_PAYMENT, Backward) => "payment is being refunded".to_owned(),
        (RESERVE_STOCK, Backward) => "stock is being released".to_owned(),
        (step, Forward) => format!("{step} is running"),
        (step, Backward) => format!("{step} is being undone"),
    };
    match &progress.stuck_reason {
        None => doing,
        Some(reason) => format!("waits for a person: {doing} ({reason})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(step: &str, direction: Direction, stuck: Option<&str>) -> Progress {
        Progress {
            step: step.to_owned(),
            direction,
            stuck_reason: stuck.map(str::to_owned),
        }
    }

    fn pending(progress: &Progress) -> String {
        sentence(OrderState::Pending, Some(progress))
    }

    #[test]
    fn a_running_order_tells_its_step() {
        use Direction::{Backward, Forward};
        for (step, direction, expected) in [
            (RESERVE_STOCK, Forward, "stock is being reserved"),
            (CHARGE_PAYMENT, Forward, "payment is being confirmed"),
            (COMMIT_STOCK, Forward, "stock is being committed"),
            (CHARGE_PAYMENT, Backward, "payment is being refunded"),
            (RESERVE_STOCK, Backward, "stock is being released"),
            ("later-step", Forward, "later-step is running"),
        ] {
            assert_eq!(pending(&at(step, direction, None)), expected);
        }
    }

    #[test]
    fn a_stuck_order_says_that_it_waits_for_a_person_and_why() {
        let stuck = at(CHARGE_PAYMENT, Direction::Backward, Some("REFUND_REFUSED"));
        assert_eq!(
            pending(&stuck),
            "waits for a person: payment is being refunded (REFUND_REFUSED)"
        );
    }

    #[test]
    fn an_ended_order_does_not_tell_of_its_saga() {
        let last = at(CONFIRM_ORDER, Direction::Forward, None);
        assert_eq!(sentence(OrderState::Confirmed, Some(&last)), "confirmed");
        assert_eq!(sentence(OrderState::Cancelled, None), "cancelled");
    }
}
