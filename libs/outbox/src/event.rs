//! What a caller writes, and what was written.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

/// An event of one aggregate, about to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// The event's identity for ever: `ce_id` on the topic, and what readers deduplicate by.
    pub event_id: Uuid,
    /// The kind of aggregate, for example `order`.
    pub aggregate_type: String,
    /// The aggregate, and the key of the record: readers see one key in order.
    pub aggregate_id: String,
    /// 1 for the aggregate's first event, one more for each that follows. Take it under the
    /// aggregate's row lock; a gap is never closed, a repetition is [`Error::VersionTaken`].
    ///
    /// [`Error::VersionTaken`]: crate::Error::VersionTaken
    pub aggregate_version: i64,
    /// The topic it goes to.
    pub topic: String,
    /// `ce_type` on the topic, for example the full name of a message.
    pub event_type: String,
    /// A JSON object. `occurredAt` is set by the database's clock as it is written.
    pub payload: Value,
    /// The event's own headers, beside those the relay makes of the fields above: for example
    /// `traceparent`, `ce_correlationid`.
    pub headers: BTreeMap<String, String>,
}

/// An event as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// Its row in `outbox_events`. Rows are numbered before they are committed, so this is not the
    /// order of publication; the version is.
    pub id: i64,
    /// The event, its payload now with `occurredAt`: byte for byte what readers will get.
    pub event: NewEvent,
}
