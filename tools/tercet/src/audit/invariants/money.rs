//! Money moves once each way, under the right key, and the processor agrees.

use std::time::Duration;

use super::Invariant;
use crate::audit::{Evidence, Finding};

pub(super) const CAPTURED_IS_CONFIRMED: Invariant = Invariant::new(
    "CAPTURED_IS_CONFIRMED",
    "money that was taken and kept belongs to a confirmed order, or its saga still runs",
    captured_is_confirmed,
);

fn captured_is_confirmed(evidence: &Evidence, settle: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (payment_id, account) in &evidence.books.payments {
        if account.captured() == account.refunded() {
            continue;
        }
        let Some(payment) = evidence.payments.get(payment_id) else {
            // Younger than the snapshot of the payments, or nobody's.
            findings.push(Finding::about(
                "payment",
                payment_id,
                "money taken for no payment of ours",
            ));
            continue;
        };
        let Some(order) = evidence.orders.get(&payment.order_id) else {
            if payment.age >= settle {
                findings.push(
                    Finding::about(
                        "payment",
                        payment_id,
                        "money taken for an order that does not exist",
                    )
                    .with("order", payment.order_id),
                );
            }
            continue;
        };
        let saga_is_open = evidence.saga_of(order).is_some_and(|saga| {
            saga.is_open() || saga.was_closed_by_a_person() || saga.age < settle
        });
        if !saga_is_open && order.state != "CONFIRMED" {
            let sentence = format!("money was taken and kept, and the order is {}", order.state);
            findings.push(Finding::about("payment", payment_id, sentence).with("order", order.id));
        }
    }
    findings.extend(evidence.books.strays.iter().map(|id| {
        Finding::about(
            "gateway",
            id,
            "the processor moved money that names no payment",
        )
    }));
    findings
}

pub(super) const CHARGED_ONCE: Invariant = Invariant::new(
    "PAYMENT_CHARGED_ONCE",
    "the processor took money for a payment at most once, under the charge's own key",
    charged_once,
);

fn charged_once(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (payment_id, account) in &evidence.books.payments {
        let count = account.charges.len();
        if count > 1 {
            let sentence = format!("charged {count} times");
            findings.push(Finding::about("payment", payment_id, sentence));
        }
        let own_key = format!("charge:{payment_id}");
        for charge in &account.charges {
            if charge.idempotency_key.as_ref() != Some(&own_key) {
                let key = charge.idempotency_key.as_deref().unwrap_or("no key");
                let sentence = format!("charged under {key}, not under {own_key}");
                findings.push(
                    Finding::about("payment", payment_id, sentence).with("charge", &charge.id),
                );
            }
        }
    }
    findings
}

pub(super) const REFUNDED_ONCE: Invariant = Invariant::new(
    "PAYMENT_REFUNDED_ONCE",
    "the processor gave a payment back at most once, and never more than it took",
    refunded_once,
);

fn refunded_once(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (payment_id, account) in &evidence.books.payments {
        let count = account.succeeded_refunds().count();
        let sentence = if count > 1 {
            format!("given back {count} times")
        } else if account.refunded() > account.captured() {
            format!(
                "{} taken and {} given back",
                account.captured(),
                account.refunded()
            )
        } else {
            continue;
        };
        findings.push(Finding::about("payment", payment_id, sentence));
    }
    findings
}

pub(super) const REFUND_KEY: Invariant = Invariant::new(
    "REFUND_UNDER_THE_PAYMENT_ID",
    "a refund is asked for under the payment's id, another key only after a refusal",
    refund_key,
);

fn refund_key(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (payment_id, account) in &evidence.books.payments {
        let own_key = payment_id.to_string();
        let next_keys = format!("{own_key}:r");
        // In the order in which they were asked for.
        let mut all_refused = true;
        for refund in &account.refunds {
            let key = refund.idempotency_key.as_deref().unwrap_or_default();
            let may_differ = key.starts_with(&next_keys) && all_refused;
            if key != own_key && !may_differ {
                let sentence =
                    format!("refund asked for under {key:?}, not under the payment's id");
                findings.push(
                    Finding::about("payment", payment_id, sentence).with("refund", &refund.id),
                );
            }
            all_refused &= refund.status == "failed";
        }
    }
    findings
}

pub(super) const BOOKS_AGREE: Invariant = Invariant::new(
    "PAYMENTS_EQUAL_THE_BOOKS",
    "what a payment says was taken and given back is what the processor says",
    books_agree,
);

fn books_agree(evidence: &Evidence, settle: Duration) -> Vec<Finding> {
    let settled = evidence
        .payments
        .values()
        .filter(|payment| !payment.is_open() && payment.age >= settle);
    let wrong = settled.filter_map(|payment| {
        let account = evidence.books.of(payment.id);
        let ours = (payment.captured_minor, payment.refunded_minor);
        let theirs = (account.captured(), account.refunded());
        (ours != theirs).then(|| {
            let sentence = format!(
                "{}: we say {} taken and {} given back, the processor says {} and {}",
                payment.state, ours.0, ours.1, theirs.0, theirs.1
            );
            Finding::about("payment", payment.id, sentence).with("order", payment.order_id)
        })
    });
    wrong.collect()
}
