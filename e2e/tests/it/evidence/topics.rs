//! What lies on the topics, and what must be true of each event there.

use std::collections::BTreeSet;

use serde_json::Value;
use tercet_cli::{audit::evidence::Order, stack::Stack, topics};
use tercet_testbed::kafka::{self, Record};
use uuid::Uuid;

/// Headers that every reader relies on.
const ALWAYS: [(&str, &str); 2] = [
    ("ce_specversion", "1.0"),
    ("content-type", "application/json"),
];

/// Everything on the three topics.
pub(super) struct Topics {
    /// By service.
    read: Vec<(String, Vec<Record>)>,
}

impl Topics {
    pub(super) async fn read(stack: &Stack) -> Self {
        let mut read = Vec::new();
        for topic in topics::names(stack.topic_prefix()) {
            let records = kafka::read_all_from(stack.brokers(), &topic).await.unwrap();
            read.push((topic, records));
        }
        Self { read }
    }

    /// The events of one aggregate of `order`, in the order of their versions, which is the order in
    /// which they were first published.
    pub(super) fn told(&self, service: &str, aggregate_id: Uuid, order: &Order) -> Vec<String> {
        let end = format!(".{service}.events.v1");
        let (topic, records) = self
            .read
            .iter()
            .find(|(topic, _)| topic.ends_with(&end))
            .unwrap();
        let key = aggregate_id.to_string();
        let mut seen = BTreeSet::new();
        let first = records
            .iter()
            .filter(|record| record.key.as_ref() == Some(&key))
            // At least once is the promise: a repeat may come at any time.
            .filter(|record| seen.insert(record.headers["ce_id"].clone()));
        let mut told = Vec::new();
        for (index, record) in first.enumerate() {
            let what = format!("{topic} {key} {}", record.headers["ce_type"]);
            assert_eq!(
                header(record, "ce_aggregateversion"),
                (index + 1).to_string(),
                "{what}"
            );
            check(record, service, order, &what);
            told.extend(line(record, order, &what));
        }
        told
    }
}

fn check(record: &Record, service: &str, order: &Order, what: &str) {
    for (name, value) in ALWAYS {
        assert_eq!(header(record, name), value, "{what}: {name}");
    }
    assert_eq!(
        header(record, "ce_source"),
        format!("//tercet/{service}"),
        "{what}"
    );
    assert_eq!(
        header(record, "ce_subject"),
        record.key.clone().unwrap(),
        "{what}"
    );
    assert!(
        header(record, "ce_type").starts_with("tercet.events.v1."),
        "{what}"
    );
    header(record, "ce_id").parse::<Uuid>().expect(what);
    assert!(header(record, "ce_time").ends_with('Z'), "{what}");

    let body: Value = serde_json::from_slice(&record.payload).expect(what);
    assert_eq!(body["orderId"], order.id.to_string(), "{what}: {body}");
    assert!(
        body["occurredAt"]
            .as_str()
            .is_some_and(|at| at.ends_with('Z')),
        "{what}: {body}"
    );
}

/// The event's name, and the command that it ends; nothing if it ends none and only informs.
fn line(record: &Record, order: &Order, what: &str) -> Option<String> {
    let name = header(record, "ce_type").rsplit('.').next()?.to_owned();
    let Some(command) = record.headers.get("ce_commandid") else {
        assert!(
            !record.headers.contains_key("ce_outcome"),
            "{what}: an outcome of no command"
        );
        return Some(name);
    };
    let saga = order.saga_id.to_string();
    assert_eq!(header(record, "ce_sagaid"), saga, "{what}");
    assert_eq!(header(record, "ce_correlationid"), saga, "{what}");
    let step = command.strip_prefix(&format!("{saga}:")).expect(what);
    match header(record, "ce_outcome") {
        "final" => Some(format!("{name} ← {step}")),
        "info" => None,
        other => panic!("{what}: ce_outcome {other}"),
    }
}

fn header<'a>(record: &'a Record, name: &str) -> &'a str {
    record
        .headers
        .get(name)
        .unwrap_or_else(|| panic!("no header {name}: {:?}", record.headers))
}
