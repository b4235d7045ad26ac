//! Sagas that wait for a person, or that a person ended.

use super::view::View;
use crate::why::{
    cause::Cause,
    finding::Finding,
    words::{awaited, due, moment},
};

pub(super) fn closed(view: &View<'_>) -> Option<Finding> {
    let saga = view.saga().filter(|saga| saga.status == "FAILED")?;
    let sentence = format!(
        "{} was closed by a person at {}; nothing acts on it any more.",
        view.order_name(),
        saga.step
    );
    Some(
        Finding::new(Cause::ClosedByPerson, sentence)
            .advise(format!("tercet saga show {} tells who and why", saga.id)),
    )
}

pub(super) fn stuck(view: &View<'_>) -> Option<Finding> {
    let live = view.live?;
    let saga = live.saga;
    let reason = saga.stuck_reason.as_ref()?;
    let cause = if saga.is_backward() {
        Cause::StuckUndo
    } else {
        Cause::Stuck
    };
    let sentence = format!(
        "{} waits for a person: it is STUCK at {} since {}, because of {reason}.",
        view.order_name(),
        awaited(saga),
        moment(saga.step_since)
    );
    let mut finding = Finding::new(cause, sentence);
    let side = view.facts.order.answer();
    if let Some(detail) = side.and_then(|side| side.stuck_detail.as_ref()) {
        finding = finding.shown_by(format!("its log: {detail}"), "order database, saga_log");
    }
    let payment = view
        .facts
        .payment
        .answer()
        .and_then(|side| side.payment.as_ref());
    let next = payment.and_then(|payment| payment.next_attempt);
    if let Some(next) = next {
        finding = finding.next(format!(
            "payment-service asks the card processor again {}",
            due(next)
        ));
    }
    finding = finding
        .next(live.next_action())
        .next("nothing is given up: an outcome of the outstanding command ends it at any time")
        .advise(format!(
            "tercet saga show {} draws how it came to this",
            saga.id
        ));
    Some(match reason.as_str() {
        "NO_ACK" | "TIME_IS_UP" => finding.advise(format!(
            "find out why {} does not answer; it goes on by itself afterwards",
            live.service.program()
        )),
        "RESTORED" => finding.advise(
            "a database was restored from an older state: compare it with its participants first",
        ),
        _ if saga.is_backward() => finding.advise(
            "settle it with the card processor: as soon as the refund is allowed, it goes on by itself",
        ),
        _ => finding,
    })
}
