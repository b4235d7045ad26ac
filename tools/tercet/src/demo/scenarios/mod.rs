//! The eight ways in which an order ends: one file each, its story first.

mod cancelled;
mod charge_lost;
mod charge_unknown;
mod confirmed;
mod declined;
mod expired;
mod out_of_stock;
mod repeated;

use futures::future::LocalBoxFuture;

use super::{check::Check, ending::Ending, scene::Scene};
use crate::view::{MissingView, OrderView};

/// One way in which an order ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scenario {
    /// Short, for programs.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// What happens, in a sentence or two.
    pub(super) story: &'static str,
    /// Plays it until the order has ended.
    pub(super) play: for<'a> fn(&'a Scene<'a>) -> LocalBoxFuture<'a, anyhow::Result<Played>>,
}

/// An order that has ended, and how it must have ended.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) order: OrderView,
    pub(super) ending: Ending,
    /// What only this scenario looks at.
    pub(super) checks: Vec<Check>,
}

impl Played {
    fn new(order: OrderView, ending: Ending) -> Self {
        Self {
            order,
            ending,
            checks: Vec::new(),
        }
    }

    fn and(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }
}

/// All of them, in the order in which they are drawn.
pub(super) const ALL: [Scenario; 8] = [
    confirmed::SCENARIO,
    declined::SCENARIO,
    out_of_stock::SCENARIO,
    expired::SCENARIO,
    repeated::SCENARIO,
    charge_lost::SCENARIO,
    charge_unknown::SCENARIO,
    cancelled::SCENARIO,
];

// The demo's products. No two scenarios need the same piece: most need one of a thousand, and the two
// that look at how much is there have a shelf of their own.
const GREEN_TEA: &str = "TEA-GREEN-100G";
const BLACK_TEA: &str = "TEA-BLACK-100G";
const MUG: &str = "MUG-STONE";
const KETTLE: &str = "KETTLE-GLASS-1L";
/// Only [`out_of_stock`] orders it.
const TEAPOT: &str = "TEAPOT-CLAY";
/// There are few, and only [`expired`] orders them.
const SCALE: &str = "SCALE-POCKET";

/// What the customer is told could not be had.
fn missing(order: &OrderView) -> String {
    let lines = order
        .cancel_reason
        .iter()
        .flat_map(|reason| &reason.missing_lines);
    lines
        .map(MissingView::sentence)
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_fit_a_customers_id() {
        let names: BTreeSet<_> = ALL.iter().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), ALL.len());
        for name in names {
            assert!(
                name.chars().all(|c| c.is_ascii_lowercase() || c == '-'),
                "{name}"
            );
        }
    }
}
