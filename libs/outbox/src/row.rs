//! A pending event in the relay's hands, and the record it becomes.

use std::collections::BTreeMap;

use sqlx::{FromRow, types::Json};
use uuid::Uuid;

use crate::Record;

/// Whose events are kept in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Aggregate {
    pub(crate) kind: String,
    pub(crate) id: String,
}

/// One row of `outbox_pending` with its event.
#[derive(Debug, Clone, FromRow)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) partition: i16,
    pub(crate) attempts: i32,
    pub(crate) aggregate_type: String,
    pub(crate) aggregate_id: String,
    pub(crate) aggregate_version: i64,
    /// The next lower version of the aggregate that is pending, in the same snapshot.
    pub(crate) previous: Option<i64>,
    pub(crate) event_id: Uuid,
    pub(crate) topic: String,
    pub(crate) event_type: String,
    pub(crate) payload: String,
    pub(crate) headers: Json<BTreeMap<String, String>>,
    /// RFC 3339, by the database's clock.
    pub(crate) created_at: String,
}

impl Row {
    pub(crate) fn aggregate(&self) -> Aggregate {
        Aggregate {
            kind: self.aggregate_type.clone(),
            id: self.aggregate_id.clone(),
        }
    }

    /// The record in CloudEvents' binary mode for Kafka. The attributes made here win over headers
    /// of the event that have their names.
    pub(crate) fn into_record(self, source: &str, schema_base: &str) -> Record {
        let mut headers = self.headers.0;
        let attributes = [
            ("ce_specversion", "1.0".to_owned()),
            ("ce_id", self.event_id.to_string()),
            ("ce_source", source.to_owned()),
            ("ce_subject", self.aggregate_id.clone()),
            ("ce_time", self.created_at),
            ("ce_dataschema", format!("{schema_base}{}", self.event_type)),
            ("ce_type", self.event_type),
            ("ce_aggregatetype", self.aggregate_type),
            // A CloudEvents integer has 32 bits, so the version goes as a decimal string.
            ("ce_aggregateversion", self.aggregate_version.to_string()),
            ("content-type", "application/json".to_owned()),
        ];
        headers.extend(attributes.map(|(name, value)| (name.to_owned(), value)));
        Record {
            topic: self.topic,
            key: self.aggregate_id,
            payload: self.payload.into_bytes(),
            headers,
        }
    }
}
