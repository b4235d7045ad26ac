//! The way of an event: outbox, relay, Kafka, consumer. The outcome that a saga waits for first, then
//! whatever else of the order was not told yet.

use std::time::Duration;

use super::{
    held_up::held_up,
    view::{Live, View},
};
use crate::why::{
    cause::Cause,
    finding::Finding,
    storage::Event,
    words::{Service, moment, span},
};

/// Publishing takes milliseconds, and so does reading.
pub(super) const ON_ITS_WAY: Duration = Duration::from_secs(2);

/// The outcome is decided, and the saga has not got it.
pub(super) fn awaited(view: &View<'_>) -> Option<Finding> {
    let live = view.live?;
    let outcome = view.outcome(live)?;
    let outbox = view.outbox(live.service)?;
    let decided = format!(
        "{} {}, which has happened: {} is decided",
        view.order_name(),
        live.waits(),
        outcome.event_type
    );
    let event = outbox.event(outcome.event_id);
    let finding = match event {
        Some(event) if event.pending.is_some() => {
            let held_up = held_up(view, live.service, outbox, event)?;
            let told = format!("{decided} and not published, {}.", held_up.why);
            held_up.finding(told)
        }
        _ => unread(view, live, &outcome.event_id.to_string(), event, &decided)?,
    };
    Some(finding.next(format!(
        "{}: the answer carries the outcome, whatever becomes of the event",
        live.next_action()
    )))
}

/// Any event of the order that is not on Kafka.
pub(super) fn untold(view: &View<'_>) -> Option<Finding> {
    let wanted = view.facts.found.as_ref().and_then(|found| found.event);
    let services = [Service::Order, Service::Payment, Service::Inventory];
    let pending = services.iter().flat_map(|service| {
        let outbox = view.outbox(*service);
        let events = outbox.into_iter().flat_map(|outbox| {
            let events = outbox.pending().map(move |(event, _)| (outbox, event));
            events.collect::<Vec<_>>()
        });
        events.map(|(outbox, event)| (*service, outbox, event))
    });
    let mut pending: Vec<_> = pending.collect();
    // The event that was asked about, before all others.
    pending.sort_by_key(|(_, _, event)| Some(event.id) != wanted);
    let count = pending.len();
    let (event, held_up) = pending.iter().find_map(|(service, outbox, event)| {
        Some((*event, held_up(view, *service, outbox, event)?))
    })?;
    let state = view
        .order
        .map_or("of unknown state", |order| order.state.as_str());
    let others = match count {
        1 => String::new(),
        count => format!(" (and {} more of its events)", count - 1),
    };
    let sentence = format!(
        "{} is {state}, but its event {}{others} is not published, {}.",
        view.order_name(),
        event.event_type,
        held_up.why
    );
    Some(held_up.finding(sentence))
}

/// It is published, and the saga does not know it.
fn unread(
    view: &View<'_>,
    live: Live<'_>,
    event_id: &str,
    event: Option<&Event>,
    decided: &str,
) -> Option<Finding> {
    let side = view.facts.order.answer()?;
    let parked = side.parked.iter();
    let mut parked = parked.filter(|parked| parked.event_id.as_deref() == Some(event_id));
    if let Some(parked) = parked.next() {
        let error = &parked.error;
        let sentence = format!("{decided}, but order-service put its message aside: {error}.");
        return Some(Finding::new(Cause::ParkedMessage, sentence).shown_by(
            format!(
                "parked {} from {}: {error}",
                moment(parked.parked),
                parked.topic
            ),
            "order database, dead_letters",
        ));
    }
    let broker = match (view.facts.broker.answer(), view.facts.broker.silence()) {
        (_, Some(why)) => {
            let sentence = format!(
                "{decided}, but order-service cannot hear of it: Kafka does not answer: {why}."
            );
            return Some(
                Finding::new(Cause::BrokerDown, sentence)
                    .advise("start Kafka, or correct KAFKA_BROKERS; nothing is lost meanwhile"),
            );
        }
        (broker, None) => broker?,
    };
    let is_old = event.is_none_or(|event| event.written.is_past_by(ON_ITS_WAY));
    let group = broker.group.as_ref()?;
    let behind = group.behind_total();
    if !is_old || (behind == 0 && live.saga.step_since.ago()? < ON_ITS_WAY) {
        return None;
    }
    let since = event
        .and_then(|event| event.written.ago())
        .map(span)
        .unwrap_or_default();
    let members = match group.members.len() {
        0 => "nobody reads in it".to_owned(),
        _ => format!("its readers: {}", group.members.join(", ")),
    };
    let sentence = format!(
        "{decided} and published {since} ago, but order-service has not read it: its consumer group \
         is {behind} records behind, and {members}."
    );
    let mut finding = Finding::new(Cause::ConsumerBehind, sentence).shown_by(
        format!("group {}: {}, {members}", group.name, group.state),
        "Kafka, consumer group",
    );
    for (topic, behind) in &group.behind {
        finding = finding.shown_by(
            format!("{behind} records of {topic} are not read"),
            "Kafka, offsets",
        );
    }
    Some(finding.advise(
        "is a reader in the group that is none of yours, or one that hangs? Restart order-service",
    ))
}
