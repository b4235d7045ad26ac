//! What lies on the topics is what the outboxes say.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::Invariant;
use crate::audit::{
    Evidence, Finding,
    evidence::{Publication, Topics},
};

pub(super) const HOLD_EVERY_EVENT: Invariant = Invariant::new(
    "TOPICS_HOLD_EVERY_EVENT",
    "every published event lies on its topic at least once",
    hold_every_event,
)
.unless(unread);

fn hold_every_event(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let Topics::Read(partitions) = &evidence.topics else {
        return Vec::new();
    };
    let there: BTreeSet<_> = partitions
        .iter()
        .flatten()
        .map(|record| record.event_id)
        .collect();
    let mut findings = Vec::new();
    for outbox in &evidence.outboxes {
        let pending: BTreeSet<_> = outbox.pending.iter().map(|event| event.event_id).collect();
        let missing = outbox
            .events
            .iter()
            .filter(|event| !pending.contains(&event.event_id) && !there.contains(&event.event_id));
        findings.extend(missing.map(|event| {
            let sentence = format!(
                "{} version {} was marked published and is not on {}",
                event.event_type, event.version, event.topic
            );
            Finding::about("event", event.event_id, sentence).with("aggregate", &event.aggregate_id)
        }));
    }
    findings
}

pub(super) const IN_VERSION_ORDER: Invariant = Invariant::new(
    "TOPICS_ARE_IN_VERSION_ORDER",
    "of one aggregate, the first publication of a version precedes that of the next",
    in_version_order,
)
.unless(unread);

fn in_version_order(evidence: &Evidence, _settle: Duration) -> Vec<Finding> {
    let Topics::Read(partitions) = &evidence.topics else {
        return Vec::new();
    };
    partitions
        .iter()
        .flat_map(|records| disorder(records))
        .collect()
}

/// An aggregate's records lie in one partition, so their order there is their order.
fn disorder(records: &[Publication]) -> Vec<Finding> {
    let mut highest: BTreeMap<&str, i64> = BTreeMap::new();
    let mut findings = Vec::new();
    for record in records {
        let seen = highest.entry(&record.aggregate_id).or_default();
        // A repeat is allowed at any time: at least once is the promise.
        if record.version > *seen + 1 {
            let sentence = format!("version {} first came after {seen}", record.version);
            findings.push(
                Finding::about("aggregate", &record.aggregate_id, sentence)
                    .with("event", record.event_id),
            );
        }
        *seen = (*seen).max(record.version);
    }
    findings
}

fn unread(evidence: &Evidence) -> Option<String> {
    match &evidence.topics {
        Topics::Read(_) => None,
        Topics::Unread(why) => Some(why.clone()),
    }
}
