//! What is shown beside every cause: where the order, its money and its stock stand, and who was silent.

use std::fmt::Write as _;

use super::view::View;
use crate::{
    view::money,
    why::{
        finding::Evidence,
        words::{Service, moment, times},
    },
};

pub(super) fn evidence(view: &View<'_>) -> Vec<Evidence> {
    let mut evidence = Vec::new();
    evidence.extend(order(view));
    evidence.extend(saga(view));
    evidence.extend(payment(view));
    evidence.extend(reservation(view));
    evidence.extend(silent(view));
    evidence
}

fn order(view: &View<'_>) -> Option<Evidence> {
    let order = view.order?;
    let reason = order.cancel_reason.as_ref();
    let reason = reason.map_or_else(String::new, |reason| format!(", {reason}"));
    let total = money(order.total_minor, &order.currency);
    let fact = format!(
        "order {} over {total}: {}{reason}, placed {}, changed {}",
        order.id,
        order.state,
        moment(order.placed),
        moment(order.changed)
    );
    Some(Evidence::new(fact, "order database, orders"))
}

fn saga(view: &View<'_>) -> Option<Evidence> {
    let saga = view.saga()?;
    let mut fact = format!("saga {}: {}", saga.id, saga.status);
    if saga.is_live() {
        let direction = saga.direction.to_lowercase();
        let since = moment(saga.step_since);
        let _ = write!(
            fact,
            " at {} {direction} since {since}, {}",
            saga.step, saga.wait
        );
        if let Some(reason) = &saga.waiting_reason {
            let _ = write!(fact, " ({reason})");
        }
        if saga.attempt > 0 {
            let _ = write!(fact, ", {} sends without an ack", saga.attempt);
        }
        if saga.asks > 0 {
            let _ = write!(fact, ", asked again {}", times(saga.asks));
        }
    }
    if let Some(reason) = &saga.failure_reason {
        let _ = write!(fact, ", turned back by {reason}");
    }
    Some(Evidence::new(fact, "order database, sagas"))
}

fn payment(view: &View<'_>) -> Option<Evidence> {
    let side = view.facts.payment.answer()?;
    let source = "payment database, payments";
    let Some(payment) = &side.payment else {
        // Nothing to say where nothing was found at all.
        view.order?;
        return Some(Evidence::new("payment: none, nothing was taken", source));
    };
    let sum = |minor| money(minor, &payment.currency);
    let fact = format!(
        "payment {}: {} {} since {}; taken {}, given back {}",
        payment.id,
        sum(payment.amount_minor),
        payment.status,
        moment(payment.changed),
        sum(payment.captured_minor),
        sum(payment.refunded_minor)
    );
    Some(Evidence::new(fact, source))
}

fn reservation(view: &View<'_>) -> Option<Evidence> {
    let side = view.facts.inventory.answer()?;
    let source = "inventory database, reservations";
    let Some(reservation) = &side.reservation else {
        view.order?;
        return Some(Evidence::new("reservation: none, nothing is held", source));
    };
    let mut fact = format!("reservation {}: {}", reservation.id, reservation.state);
    if let Some(expires) = reservation
        .expires
        .filter(|_| reservation.state == "PENDING")
    {
        let _ = write!(fact, ", held until {}", moment(expires));
    }
    Some(Evidence::new(fact, source))
}

/// Whoever did not answer is a fact as well: the diagnosis was made without it.
fn silent(view: &View<'_>) -> Vec<Evidence> {
    let facts = view.facts;
    let services = [Service::Order, Service::Payment, Service::Inventory];
    let databases = services.map(|service| (service.database(), view.silence(service)));
    let doors = services.map(|service| (service.program(), view.health(service).silence()));
    let others = [
        ("Kafka", facts.broker.silence()),
        ("card processor", facts.gateway.silence()),
    ];
    let all = databases.into_iter().chain(others).chain(doors);
    all.filter_map(|(who, why)| Some(Evidence::new(format!("{who} is silent: {}", why?), who)))
        .collect()
}
