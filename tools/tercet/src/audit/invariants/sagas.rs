//! No saga is forgotten.

use std::time::Duration;

use super::Invariant;
use crate::audit::{Evidence, Finding};

pub(super) const ENDS_OR_IS_STUCK: Invariant = Invariant::new(
    "SAGA_ENDS_OR_IS_STUCK",
    "a saga ends, or says that it waits for a person",
    ends_or_is_stuck,
);

fn ends_or_is_stuck(evidence: &Evidence, settle: Duration) -> Vec<Finding> {
    let silent = evidence
        .sagas
        .values()
        .filter(|saga| saga.is_open() && saga.stuck_reason.is_none() && saga.age >= settle);
    silent
        .map(|saga| {
            let step = saga.step.as_deref().unwrap_or("no step");
            let seconds = saga.age.as_secs();
            Finding::about(
                "saga",
                saga.id,
                format!(
                    "{} at {step}, unchanged for {seconds} s, and not STUCK",
                    saga.status
                ),
            )
            .with("order", saga.order_id)
        })
        .collect()
}

pub(super) const HAS_TIMER_OR_COMMAND: Invariant = Invariant::new(
    "SAGA_HAS_TIMER_OR_COMMAND",
    "a live saga has a timer or an outstanding command",
    has_timer_or_command,
);

// Whatever its age: such a saga moves only by luck, and no transaction may leave one behind.
fn has_timer_or_command(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let lost = evidence
        .sagas
        .values()
        .filter(|saga| saga.is_open() && !saga.has_timer && saga.command_id.is_none());
    lost.map(|saga| {
        Finding::about(
            "saga",
            saga.id,
            "nothing will ever move it: no timer, no command",
        )
        .with("order", saga.order_id)
    })
    .collect()
}

pub(super) const AGREES_WITH_ITS_ORDER: Invariant = Invariant::new(
    "SAGA_AGREES_WITH_ITS_ORDER",
    "COMPLETED means CONFIRMED, COMPENSATED means CANCELLED, running means PENDING",
    agrees_with_its_order,
);

fn agrees_with_its_order(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    for order in evidence.orders.values() {
        // Both change in one transaction and are read in one snapshot: no age to wait for.
        let Some(saga) = evidence.saga_of(order) else {
            findings.push(
                Finding::about("order", order.id, "the order's saga does not exist")
                    .with("saga", order.saga_id),
            );
            continue;
        };
        let agrees = match saga.status.as_str() {
            "COMPLETED" => order.state == "CONFIRMED",
            "COMPENSATED" => order.state == "CANCELLED",
            "FAILED" => true,
            _ => order.state == "PENDING",
        };
        if !agrees {
            let sentence = format!("the saga is {} and the order {}", saga.status, order.state);
            findings.push(Finding::about("order", order.id, sentence).with("saga", order.saga_id));
        }
    }
    let orphans = evidence
        .sagas
        .values()
        .filter(|saga| !evidence.orders.contains_key(&saga.order_id));
    findings.extend(orphans.map(|saga| {
        Finding::about("saga", saga.id, "the saga's order does not exist")
            .with("order", saga.order_id)
    }));
    findings
}
