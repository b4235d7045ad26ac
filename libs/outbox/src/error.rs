//! What can go wrong in the outbox.

/// Why an event was not written, or a statement of the relay failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The aggregate has an event of this version: the caller's version was not taken under the
    /// aggregate's row lock, or its transaction runs a second time.
    #[error("{aggregate_type} {aggregate_id} already has an event of version {aggregate_version}")]
    VersionTaken {
        /// The kind of aggregate.
        aggregate_type: String,
        /// The aggregate.
        aggregate_id: String,
        /// The version that is taken.
        aggregate_version: i64,
    },
    /// The payload is not a JSON object, so there is no place for `occurredAt`.
    #[error("the payload of a {event_type} is not a JSON object")]
    PayloadNotAnObject {
        /// The event's type.
        event_type: String,
    },
    /// The database refused or could not be asked.
    #[error("the outbox's database failed")]
    Database(#[from] sqlx::Error),
    /// A lease must outlast two deliveries, or a record may still be under way when another relay
    /// takes the partition.
    #[error(
        "a lease of {lease:?} is not more than twice the delivery timeout of {delivery_timeout:?}"
    )]
    LeaseTooShort {
        /// The lease's length.
        lease: std::time::Duration,
        /// The publisher's delivery timeout.
        delivery_timeout: std::time::Duration,
    },
    /// The C library beneath is older than what this was written for.
    #[error("librdkafka {version} is too old: before 1.9 it may drop acknowledged records")]
    LibraryTooOld {
        /// Its version.
        version: String,
    },
    /// The publisher could not be rebuilt.
    #[error("the publisher could not be rebuilt")]
    Publisher(#[from] crate::PublishError),
    /// The broker's client could not be built from its settings.
    #[error("the Kafka producer could not be built")]
    Producer(#[source] rdkafka::error::KafkaError),
}

impl Error {
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => !error
                .as_database_error()
                .and_then(sqlx::error::DatabaseError::code)
                .is_some_and(|code| code.starts_with("22") || code.starts_with("23")),
            Self::Publisher(_) => true,
            Self::VersionTaken { .. }
            | Self::PayloadNotAnObject { .. }
            | Self::LeaseTooShort { .. }
            | Self::LibraryTooOld { .. }
            | Self::Producer(_) => false,
        }
    }
}
