//! Services that are gone or do not answer, and time that ran out.

use std::time::Duration;

use super::view::View;
use crate::why::{
    cause::Cause,
    finding::Finding,
    words::{Service, moment, span},
};

/// Timers are looked for four times a second.
const OVERDUE: Duration = Duration::from_secs(5);

pub(super) fn orchestrator_down(view: &View<'_>) -> Option<Finding> {
    let live = view.live?;
    let why = view.health(Service::Order).silence()?;
    let sentence = format!(
        "{} {}, and nobody drives it: order-service does not answer: {why}.",
        view.order_name(),
        live.waits()
    );
    Some(
        Finding::new(Cause::OrchestratorDown, sentence)
            .next("nothing, until an order-service runs; then its timers go on within seconds")
            .advise("start order-service; if another instance runs, name its ORDER_ADMIN_ADDR"),
    )
}

pub(super) fn down(view: &View<'_>) -> Option<Finding> {
    let live = view.live.filter(|live| live.service != Service::Order)?;
    // It has done its part; what is left does not need it.
    if view.outcome(live).is_some() {
        return None;
    }
    let program = live.service.program();
    let (silence, since) = (
        view.health(live.service).silence(),
        moment(live.saga.step_since),
    );
    let refused = live.saga.wait == "CANNOT_CONNECT";
    let why = match silence {
        Some(why) => format!("{program} does not answer: {why}"),
        None if refused => format!(
            "order-service could not connect to {program} when it last tried, although {program} \
             answers here"
        ),
        None => return None,
    };
    let sentence = format!(
        "{} {} since {since}, and {why}.",
        view.order_name(),
        live.waits()
    );
    Some(
        Finding::new(Cause::ParticipantDown, sentence)
            .next(format!(
                "{}, and goes on as soon as it answers",
                live.next_action()
            ))
            .next(turning_back(
                live.saga.step.as_str(),
                live.saga.is_backward(),
            ))
            .advise(format!("start {program}, or mend the way to it")),
    )
}

/// What the end of patience means.
pub(super) fn turning_back(step: &str, is_backward: bool) -> String {
    let is_before_pivot = matches!(step, "reserve-stock" | "charge-payment") && !is_backward;
    if is_before_pivot {
        "if nothing comes in the time given (order-service --help: budgets), the order turns back"
    } else {
        "it is asked for as long as it takes; when the time given is up, a person is told (STUCK)"
    }
    .to_owned()
}

pub(super) fn hold_expired(view: &View<'_>) -> Option<Finding> {
    let order = view.order?;
    if order.cancel_reason.as_deref() == Some("HOLD_EXPIRED") {
        let message = order.cancel_message.as_deref().unwrap_or_default();
        let sentence = format!(
            "{} is CANCELLED: its stock was held for too short a time and sold to others before it was \
             paid; the money went back.",
            view.order_name()
        );
        return Some(
            Finding::new(Cause::HoldExpired, sentence)
                .shown_by(format!("HOLD_EXPIRED: {message}"), "order database, orders")
                .next("nothing: it has ended")
                .advise(
                    "ORDER_HOLD_TTL_SECONDS must be more than the two budgets before the commit",
                ),
        );
    }
    let live = view.live.filter(|live| !live.saga.is_backward())?;
    let side = view.facts.inventory.answer()?;
    let hold = side.reservation.as_ref()?;
    let ended = hold
        .expires
        .and_then(|expires| expires.ago().map(|ago| (expires, ago)));
    let (expires, ago) = ended.filter(|_| matches!(hold.state.as_str(), "PENDING" | "EXPIRED"))?;
    let sentence = format!(
        "{} {}, and its hold on the stock ended {} ago.",
        view.order_name(),
        live.waits(),
        span(ago)
    );
    Some(
        Finding::new(Cause::HoldExpired, sentence)
            .shown_by(
                format!("reservation {}: {}, held until {}", hold.id, hold.state, moment(expires)),
                "inventory database, reservations",
            )
            .next(
                "the commit takes the stock anew if it is still there; else the money goes back and \
                 the order is cancelled",
            )
            .next(live.next_action()),
    )
}

pub(super) fn no_ack(view: &View<'_>) -> Option<Finding> {
    let live = view.live?;
    let attempt = live.saga.attempt;
    if live.saga.wait != "NO_ACK" || attempt == 0 || view.outcome(live).is_some() {
        return None;
    }
    let program = live.service.program();
    let lacks = view
        .health(live.service)
        .answer()
        .map(|health| health.lacks.join("; "));
    let lacks = lacks.filter(|lacks| !lacks.is_empty());
    let lacks = lacks.map_or_else(String::new, |lacks| {
        format!(", which says of itself: {lacks}")
    });
    let sentence = format!(
        "{} {}, and {attempt} sends in a row were not acknowledged by {program}{lacks}.",
        view.order_name(),
        live.waits()
    );
    Some(
        Finding::new(Cause::NoAck, sentence)
            .next(live.next_action())
            .next(turning_back(
                live.saga.step.as_str(),
                live.saga.is_backward(),
            ))
            .advise(format!(
                "read the log of {program}: what becomes of {}",
                command(view)
            )),
    )
}

pub(super) fn engine_stalled(view: &View<'_>) -> Option<Finding> {
    let live = view.live?;
    let due = live.saga.next_action?;
    let health = view.health(Service::Order).answer()?;
    if !due.is_past_by(OVERDUE) {
        return None;
    }
    let lacks = health.lacks.join("; ");
    let says = if lacks.is_empty() {
        "ready".to_owned()
    } else {
        lacks
    };
    let sentence = format!(
        "{} {}; order-service should have asked again at {} and has not, though it runs ({says}).",
        view.order_name(),
        live.waits(),
        moment(due)
    );
    Some(
        Finding::new(Cause::EngineStalled, sentence)
            .next("every order-service looks for sagas that are overdue by 5 min once a minute")
            .advise(
                "read the log of order-service for this saga's id: a row it cannot run says so",
            ),
    )
}

fn command(view: &View<'_>) -> String {
    let command = view.live.and_then(|live| live.saga.command_id.clone());
    command.unwrap_or_else(|| "the command".to_owned())
}
