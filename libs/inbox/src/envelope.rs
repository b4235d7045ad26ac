//! A message as it came, with its CloudEvents (Kafka, binary mode) headers read.

use std::collections::BTreeMap;

use uuid::Uuid;

/// One message of a topic. Headers and key that are not UTF-8 are kept with replacement characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Where it was read.
    pub topic: String,
    /// The partition of the topic.
    pub partition: i32,
    /// Its place in the partition.
    pub offset: i64,
    /// The record's key: the aggregate's id.
    pub key: Option<String>,
    /// The event's body; empty for a tombstone.
    pub payload: Vec<u8>,
    /// All headers; of a repeated one, the last.
    pub headers: BTreeMap<String, String>,
}

impl Envelope {
    /// The header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// `ce_id`: the event's identity, by which the inbox deduplicates. `None` if absent or no UUID.
    pub fn ce_id(&self) -> Option<Uuid> {
        self.uuid("ce_id")
    }

    /// `ce_type`: what the payload is.
    pub fn ce_type(&self) -> Option<&str> {
        self.header("ce_type")
    }

    /// `ce_sagaid`: the saga whose command led to this event.
    pub fn saga_id(&self) -> Option<Uuid> {
        self.uuid("ce_sagaid")
    }

    /// `ce_commandid`: the command that this event is the outcome of. Without it, it is none.
    pub fn command_id(&self) -> Option<&str> {
        self.header("ce_commandid")
    }

    /// Whether the event ends its command (`ce_outcome: final`) rather than telling of its progress
    /// (`info`). Anything but `final` ends nothing.
    pub fn is_final_outcome(&self) -> bool {
        self.header("ce_outcome") == Some("final")
    }

    /// `ce_subject`: the aggregate that the event tells of.
    pub fn aggregate_id(&self) -> Option<&str> {
        self.header("ce_subject")
    }

    /// `ce_aggregatetype`: the kind of aggregate.
    pub fn aggregate_type(&self) -> Option<&str> {
        self.header("ce_aggregatetype")
    }

    /// `ce_aggregateversion`: the event's place among those of its aggregate, from 1 up.
    pub fn aggregate_version(&self) -> Option<i64> {
        self.header("ce_aggregateversion")?.parse().ok()
    }

    /// `traceparent`: where the trace goes on from.
    pub fn traceparent(&self) -> Option<&str> {
        self.header("traceparent")
    }

    /// Messages of one lane take effect one after the other, in the order of their arrival; lanes do
    /// not wait for each other. A saga's messages share a lane, others go by their key.
    pub fn lane(&self) -> &str {
        self.header("ce_sagaid")
            .or(self.key.as_deref())
            .unwrap_or_default()
    }

    fn uuid(&self, name: &str) -> Option<Uuid> {
        Uuid::try_parse(self.header(name)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(headers: &[(&str, &str)]) -> Envelope {
        Envelope {
            topic: "t".into(),
            partition: 0,
            offset: 7,
            key: Some("aggregate".into()),
            payload: Vec::new(),
            headers: headers
                .iter()
                .map(|(k, v)| ((*k).into(), (*v).into()))
                .collect(),
        }
    }

    #[test]
    fn a_header_that_does_not_parse_is_absent() {
        let garbled = envelope(&[
            ("ce_id", "7"),
            ("ce_sagaid", ""),
            ("ce_aggregateversion", "two"),
        ]);
        assert_eq!(garbled.ce_id(), None);
        assert_eq!(garbled.saga_id(), None);
        assert_eq!(garbled.aggregate_version(), None);
    }

    #[test]
    fn only_final_is_final() {
        assert!(envelope(&[("ce_outcome", "final")]).is_final_outcome());
        assert!(!envelope(&[("ce_outcome", "info")]).is_final_outcome());
        assert!(!envelope(&[]).is_final_outcome());
    }

    #[test]
    fn a_sagas_messages_share_a_lane_whatever_their_aggregate() {
        assert_eq!(envelope(&[("ce_sagaid", "saga")]).lane(), "saga");
        assert_eq!(envelope(&[]).lane(), "aggregate");
    }
}
