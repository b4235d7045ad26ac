//! Where the relay hands records over: a small trait, so that a test can play the broker.

use std::{collections::BTreeMap, future::Future, time::Duration};

/// An event as it goes to the topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The topic.
    pub topic: String,
    /// The aggregate's id: what the topic keeps in order.
    pub key: String,
    /// The event's body.
    pub payload: Vec<u8>,
    /// CloudEvents attributes and the event's own headers.
    pub headers: BTreeMap<String, String>,
}

/// Carries records to the broker, and tells of each what became of it.
pub trait Publisher: Send + Sync + 'static {
    /// Queues `record` when first polled, and reports what the broker said of it. `Ok` only if the
    /// broker has acknowledged this very record; an error may come though the record was written.
    fn publish(&self, record: Record) -> impl Future<Output = Result<(), PublishError>> + Send;

    /// Throws away whatever is queued (each record still gets its report) and starts anew.
    fn rebuild(&self) -> impl Future<Output = Result<(), PublishError>> + Send;

    /// The longest that a record can be under way before its report: the relay stops queueing that
    /// long before a lease ends.
    fn delivery_timeout(&self) -> Duration;
}

/// Why a record was not acknowledged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The broker will not take *this* record: too large, not allowed. Counts towards quarantine.
    #[error("refused: {0}")]
    Refused(String),
    /// The broker could not be asked, or did not answer in time. Says nothing about the record, so
    /// it never counts towards quarantine: an outage must not park good events.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// The client is broken for good: it must be rebuilt before anything else is sent.
    #[error("the producer is broken: {0}")]
    Fatal(String),
}

impl PublishError {
    /// The name of the kind, for logs and metrics.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Unavailable(_) => "unavailable",
            Self::Fatal(_) => "fatal",
        }
    }
}
