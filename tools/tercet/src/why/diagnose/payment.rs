//! What goes on between the payment service and the card processor.

use std::time::Duration;

use super::{
    participants::turning_back,
    view::{Live, View},
};
use crate::{
    view::money,
    why::{
        cause::Cause,
        facts::{GatewayCall, Payment},
        finding::Finding,
        words::{Service, due, moment, span, times},
    },
};

/// A charge takes a second or two.
const SLOW: Duration = Duration::from_secs(5);

/// A payment that is open, and whose last call did not settle it.
pub(super) fn open(view: &View<'_>) -> Option<Finding> {
    let live = view.live.filter(|live| live.service == Service::Payment)?;
    let side = view.facts.payment.answer()?;
    let payment = side.payment.as_ref()?;
    let is_refund = match payment.status.as_str() {
        "CHARGING" | "OUTCOME_UNKNOWN" => false,
        "REFUNDING" => true,
        _ => return None,
    };
    let wanted: &[&str] = if is_refund {
        &["REFUND", "LIST_REFUNDS"]
    } else {
        &[
            "CREATE_INTENT",
            "CONFIRM",
            "CANCEL",
            "RETRIEVE_INTENT",
            "FIND_INTENTS",
        ]
    };
    let mut calls = side
        .calls
        .iter()
        .filter(|call| wanted.contains(&call.operation.as_str()));
    let troubled = calls.find(|call| is_trouble(&call.result));
    let (cause, why) = match (troubled, view.facts.gateway.silence()) {
        (_, Some(why)) => (
            Cause::GatewayDown,
            format!("the card processor cannot be reached: {why}"),
        ),
        (Some(call), None) => of_call(call),
        (None, None) if payment.changed.is_past_by(SLOW) => (
            Cause::OutcomeUnknown,
            format!(
                "the card processor has been asked {} ago and has not answered",
                span(payment.changed.ago().unwrap_or_default())
            ),
        ),
        (None, None) => return None,
    };
    Some(told(view, live, payment, cause, &why, troubled))
}

fn is_trouble(result: &str) -> bool {
    matches!(
        result,
        "UNKNOWN" | "TIMED_OUT" | "NO_ANSWER" | "REFUSED" | "PENDING" | "FAILED"
    )
}

fn of_call(call: &GatewayCall) -> (Cause, String) {
    let detail = call.detail.as_deref().unwrap_or("no detail");
    let is_http = |class: &str| detail.starts_with(&format!("HTTP {class}"));
    let operation = call.operation.to_lowercase().replace('_', " ");
    match call.result.as_str() {
        "NO_ANSWER" => (
            Cause::GatewayDown,
            format!("the card processor could not be reached at the last {operation}: {detail}"),
        ),
        "UNKNOWN" if is_http("5") || is_http("429") => (
            Cause::GatewayError,
            format!("the card processor answers {operation} with an error of its own: {detail}"),
        ),
        "REFUSED" => (
            Cause::RefundRefused,
            format!("the card processor refuses the {operation}: {detail}"),
        ),
        "PENDING" | "FAILED" => (
            Cause::RefundPending,
            format!(
                "the card processor says that the {operation} is {}",
                call.result
            ),
        ),
        _ => (
            Cause::OutcomeUnknown,
            format!(
                "nobody knows what the card processor did: the last {operation} ended with {detail}"
            ),
        ),
    }
}

fn told(
    view: &View<'_>,
    live: Live<'_>,
    payment: &Payment,
    cause: Cause,
    why: &str,
    call: Option<&GatewayCall>,
) -> Finding {
    let amount = money(payment.amount_minor, &payment.currency);
    let sentence = format!(
        "{} {} of {amount} since {}, and {why}.",
        view.order_name(),
        live.waits(),
        moment(live.saga.step_since)
    );
    let mut finding = Finding::new(cause, sentence);
    if let Some(call) = call {
        let detail = call.detail.as_deref().map(|detail| format!(": {detail}"));
        let fact = format!(
            "{} ended {} with {}{}",
            call.operation,
            moment(call.ended),
            call.result,
            detail.unwrap_or_default()
        );
        finding = finding.shown_by(fact, "payment database, gateway_attempts");
    }
    finding = finding.shown_by(
        format!(
            "tried {} so far; no second charge or refund: each try has the same key",
            times(payment.attempts)
        ),
        "payment database, payments",
    );
    if let Some(next) = payment.next_attempt {
        finding = finding.next(format!(
            "payment-service asks the card processor again {}, under the same key",
            due(next)
        ));
    }
    finding = finding.next(turning_back(&live.saga.step, live.saga.is_backward()));
    match cause {
        Cause::GatewayDown => {
            finding.advise("bring the card processor back, or correct PAYMENT_GATEWAY_URL")
        }
        Cause::GatewayError => finding.advise("ask the card processor's support about that answer"),
        Cause::RefundRefused => finding.advise("settle it with the card processor"),
        _ => finding.advise("nothing: it settles itself as soon as the processor says what it did"),
    }
}
