//! How an order must end: compared with the facts of all three services and the processor, without IO.

use std::collections::BTreeMap;

use super::{
    check::Check,
    facts::{Facts, Movement},
};
use crate::{
    audit::evidence::Account,
    view::{OrderView, money},
};

/// What happens to the customer's money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Money {
    /// Taken once, and kept.
    Kept,
    /// Never taken.
    Untouched,
    /// Taken once, and given back once.
    Back,
    /// Never taken, or taken once and given back once: a race that may go either way.
    UntouchedOrBack,
}

/// How an order must end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) order: &'static str,
    /// Why it was cancelled; empty unless it was.
    pub(super) because: &'static str,
    /// The states that are right; empty if there must be no payment.
    pub(super) payment: &'static [&'static str],
    pub(super) money: Money,
    pub(super) reservation: &'static str,
}

impl Ending {
    /// Confirmed, paid once, delivered.
    pub(super) const CONFIRMED: Self = Self {
        order: "CONFIRMED",
        because: "",
        payment: &["CHARGED"],
        money: Money::Kept,
        reservation: "COMMITTED",
    };

    /// Cancelled because of `because`; everything else is to be filled in.
    pub(super) const fn cancelled(because: &'static str) -> Self {
        Self {
            order: "CANCELLED",
            because,
            payment: &[],
            money: Money::Untouched,
            reservation: "RELEASED",
        }
    }

    /// Everything that must be so.
    pub(super) fn judge(&self, facts: &Facts) -> Vec<Check> {
        let reason = facts.order.cancel_reason.as_ref();
        let reason = reason.map_or("", |reason| reason.reason.as_str());
        let payment: &[&str] = match self.payment {
            [] => &["none"],
            states => states,
        };
        vec![
            Check::equal(
                "order",
                because(self.order, self.because),
                because(&facts.order.state, reason),
            ),
            Check::one_of("payment", payment, facts.payment_state()),
            Check::equal(
                "processor",
                self.books(facts),
                books(&facts.account, facts.currency()),
            ),
            Check::equal("hold", self.reservation, facts.reservation.clone()),
            Check::equal("stock", self.stock(&facts.order), stock(&facts.moved)),
        ]
        .into_iter()
        .chain(Self::own_books(facts))
        .collect()
    }

    /// What the processor's books must say.
    fn books(&self, facts: &Facts) -> String {
        let total = facts.order.total_minor;
        let charged = facts.account.captured() > 0;
        let (charges, refunds) = match self.money {
            Money::Kept => (1, 0),
            Money::Back => (1, 1),
            Money::UntouchedOrBack if charged => (1, 1),
            Money::Untouched | Money::UntouchedOrBack => (0, 0),
        };
        movements(
            charges,
            charges * total,
            refunds,
            refunds * total,
            facts.currency(),
        )
    }

    /// The payment service must say of the money what the processor says.
    fn own_books(facts: &Facts) -> Option<Check> {
        let payment = facts.payment.as_ref()?;
        let sums = |captured: i64, refunded: i64| {
            let currency = facts.currency();
            format!(
                "{} taken, {} given back",
                money(captured, currency),
                money(refunded, currency)
            )
        };
        Some(Check::equal(
            "ledger",
            sums(facts.account.captured(), facts.account.refunded()),
            sums(payment.captured_minor, payment.refunded_minor),
        ))
    }

    /// What must have left the shelf for good.
    fn stock(&self, order: &OrderView) -> String {
        let mut sold = BTreeMap::<String, Movement>::new();
        if self.order == "CONFIRMED" {
            for line in &order.lines {
                sold.entry(line.sku.clone()).or_default().on_hand -= line.quantity;
            }
        }
        stock(&sold)
    }
}

fn because(state: &str, reason: &str) -> String {
    if reason.is_empty() {
        state.to_owned()
    } else {
        format!("{state}, {reason}")
    }
}

fn books(account: &Account, currency: &str) -> String {
    movements(
        count(account.charges.len()),
        account.captured(),
        count(account.succeeded_refunds().count()),
        account.refunded(),
        currency,
    )
}

fn movements(charges: i64, captured: i64, refunds: i64, refunded: i64, currency: &str) -> String {
    let several = |many: i64, one: &str, sum: i64| match many {
        0 => format!("no {one}"),
        1 => format!("1 {one} of {}", money(sum, currency)),
        many => format!("{many} {one}s of {}", money(sum, currency)),
    };
    format!(
        "{}, {}",
        several(charges, "charge", captured),
        several(refunds, "refund", refunded)
    )
}

// A handful: it fits, and if it did not, the largest number is wrong enough.
fn count(many: usize) -> i64 {
    i64::try_from(many).unwrap_or(i64::MAX)
}

/// What an order did to the stock, all its movements taken together.
fn stock(moved: &BTreeMap<String, Movement>) -> String {
    let mut words = Vec::new();
    for (sku, Movement { on_hand, reserved }) in moved {
        if *on_hand != 0 {
            words.push(format!("{} × {sku} sold", -on_hand));
        }
        if *reserved != 0 {
            words.push(format!("{reserved} × {sku} still held"));
        }
    }
    if words.is_empty() {
        "as it was before".to_owned()
    } else {
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        audit::evidence::{Charge, Refund},
        demo::facts::Paid,
        view::{CancelView, LineView},
    };

    fn charge(id: &str) -> Charge {
        Charge {
            id: id.to_owned(),
            amount: 980,
            currency: "eur".to_owned(),
            idempotency_key: None,
        }
    }

    fn confirmed() -> Facts {
        let mut facts = Facts::default();
        facts.order.state = "CONFIRMED".to_owned();
        facts.order.currency = "EUR".to_owned();
        facts.order.total_minor = 980;
        facts.order.lines = vec![LineView {
            sku: "CUP".to_owned(),
            quantity: 2,
            unit_price_minor: 490,
        }];
        facts.payment = Some(Paid {
            state: "CHARGED".to_owned(),
            captured_minor: 980,
            refunded_minor: 0,
        });
        facts.account.charges = vec![charge("ch_1")];
        facts.reservation = "COMMITTED".to_owned();
        let sold = Movement {
            on_hand: -2,
            reserved: 0,
        };
        facts.moved.insert("CUP".to_owned(), sold);
        facts
    }

    fn broken(ending: &Ending, facts: &Facts) -> Vec<String> {
        let checks = ending.judge(facts);
        let broken = checks.iter().filter(|check| !check.holds);
        broken
            .map(|check| format!("{}: {} but {}", check.what, check.expected, check.found))
            .collect()
    }

    #[test]
    fn a_good_ending_breaks_nothing() {
        assert_eq!(broken(&Ending::CONFIRMED, &confirmed()), [""; 0]);
    }

    #[test]
    fn a_second_charge_is_seen_in_the_processors_books() {
        let mut facts = confirmed();
        facts.account.charges.push(charge("ch_2"));
        assert_eq!(
            broken(&Ending::CONFIRMED, &facts),
            [
                "processor: 1 charge of 9.80 EUR, no refund but 2 charges of 19.60 EUR, no refund",
                "ledger: 19.60 EUR taken, 0.00 EUR given back but 9.80 EUR taken, 0.00 EUR given back",
            ]
        );
    }

    #[test]
    fn stock_that_stays_held_is_seen() {
        let mut facts = confirmed();
        facts.moved.insert(
            "CUP".to_owned(),
            Movement {
                on_hand: 0,
                reserved: 2,
            },
        );
        assert_eq!(
            broken(&Ending::CONFIRMED, &facts),
            ["stock: 2 × CUP sold but 2 × CUP still held"]
        );
    }

    #[test]
    fn money_that_was_taken_must_come_back_once() {
        let mut facts = confirmed();
        facts.order.state = "CANCELLED".to_owned();
        facts.order.cancel_reason = Some(CancelView {
            reason: "CANCELLED_BY_CUSTOMER".to_owned(),
            message: String::new(),
            missing_lines: Vec::new(),
        });
        facts.reservation = "RELEASED".to_owned();
        facts.moved.clear();
        let ending = Ending {
            payment: &["REFUNDED", "VOIDED"],
            money: Money::UntouchedOrBack,
            ..Ending::cancelled("CANCELLED_BY_CUSTOMER")
        };
        assert_eq!(
            broken(&ending, &facts),
            [
                "payment: REFUNDED or VOIDED but CHARGED",
                "processor: 1 charge of 9.80 EUR, 1 refund of 9.80 EUR but \
                 1 charge of 9.80 EUR, no refund",
            ]
        );
        facts.account.refunds = vec![Refund {
            id: "re_1".to_owned(),
            amount: 980,
            status: "succeeded".to_owned(),
            idempotency_key: None,
        }];
        facts.payment = Some(Paid {
            state: "REFUNDED".to_owned(),
            captured_minor: 980,
            refunded_minor: 980,
        });
        assert_eq!(broken(&ending, &facts), [""; 0]);
    }

    #[test]
    fn no_payment_is_a_payment_state_of_its_own() {
        let mut facts = Facts::default();
        facts.order.state = "CANCELLED".to_owned();
        facts.order.currency = "EUR".to_owned();
        facts.reservation = "REFUSED".to_owned();
        let ending = Ending {
            reservation: "REFUSED",
            ..Ending::cancelled("OUT_OF_STOCK")
        };
        assert_eq!(
            broken(&ending, &facts),
            ["order: CANCELLED, OUT_OF_STOCK but CANCELLED"]
        );
    }
}
