//! Every change is told, in order, and every command has one outcome.

use std::{collections::BTreeMap, time::Duration};

use super::Invariant;
use crate::audit::{
    Evidence, Finding,
    evidence::{Event, Outbox},
};

pub(super) const PUBLISHED: Invariant = Invariant::new(
    "EVENTS_ARE_PUBLISHED",
    "every event reaches the broker, or is shown to a person",
    published,
);

fn published(evidence: &Evidence, settle: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    for outbox in &evidence.outboxes {
        // Quarantined ones wait for a person: they are shown, whatever their age.
        let late = outbox
            .pending
            .iter()
            .filter(|event| event.is_quarantined || event.age >= settle);
        findings.extend(late.map(|event| {
            let why = event.last_error.as_deref().unwrap_or("no error");
            let sentence = format!(
                "{}: not published for {} s after {} attempts ({why})",
                outbox.service,
                event.age.as_secs(),
                event.attempts
            );
            Finding::about("event", event.event_id, sentence).with("aggregate", &event.aggregate_id)
        }));
    }
    findings
}

pub(super) const NO_GAPS: Invariant = Invariant::new(
    "VERSIONS_HAVE_NO_GAPS",
    "an aggregate's events count up one by one to the aggregate's own version",
    no_gaps,
);

fn no_gaps(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let mut findings = Vec::new();
    for outbox in &evidence.outboxes {
        // Sorted by aggregate and version when they were read.
        for events in outbox
            .events
            .chunk_by(|a, b| a.aggregate_id == b.aggregate_id)
        {
            findings.extend(gap(outbox, events));
            findings.extend(unlike_aggregate(evidence, outbox, events));
        }
    }
    findings
}

// Retention may have taken the first ones: counting starts where the outbox does.
fn gap(outbox: &Outbox, events: &[Event]) -> Option<Finding> {
    let mut pairs = events.iter().zip(events.iter().skip(1));
    let (before, after) = pairs.find(|(before, after)| after.version != before.version + 1)?;
    let (before, after) = (before.version, after.version);
    let sentence = format!("{}: version {after} follows on {before}", outbox.service);
    Some(Finding::about(
        "aggregate",
        &events.first()?.aggregate_id,
        sentence,
    ))
}

fn unlike_aggregate(evidence: &Evidence, outbox: &Outbox, events: &[Event]) -> Option<Finding> {
    let last = events.last()?;
    let id = last.aggregate_id.parse().ok()?;
    let version = match outbox.service {
        "order" => evidence.orders.get(&id).map(|order| order.version),
        "payment" => evidence.payments.get(&id).map(|payment| payment.version),
        _ => evidence.reservations.get(&id).map(|hold| hold.version),
    };
    let sentence = match version {
        None => format!(
            "{}: events of an aggregate that does not exist",
            outbox.service
        ),
        Some(version) if version != last.version => format!(
            "{}: at version {version}, its last event is version {}",
            outbox.service, last.version
        ),
        Some(_) => return None,
    };
    Some(Finding::about("aggregate", id, sentence))
}

pub(super) const ONE_OUTCOME: Invariant = Invariant::new(
    "COMMANDS_HAVE_ONE_OUTCOME",
    "a command has one final outcome: its effect happened once",
    one_outcome,
);

fn one_outcome(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let mut outcomes: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in evidence.outboxes.iter().flat_map(|outbox| &outbox.events) {
        if let Some(command) = &event.outcome_of {
            outcomes.entry(command).or_default().push(event);
        }
    }
    let repeated = outcomes.into_iter().filter(|(_, events)| events.len() > 1);
    repeated
        .map(|(command, events)| {
            let types = events.iter().map(|event| event.event_type.as_str());
            let types = types.collect::<Vec<_>>().join(", ");
            Finding::about(
                "command",
                command,
                format!("{} outcomes: {types}", events.len()),
            )
        })
        .collect()
}
