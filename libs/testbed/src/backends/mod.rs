//! The servers that tests use: those that are given, else private ones that go with the value.

#[cfg(feature = "containers")]
mod containers;
mod start;

use crate::local::{LocalKafka, LocalPostgres};

pub use start::Step;

/// A PostgreSQL and a Kafka, and what was started to have them.
#[derive(Debug)]
pub struct Backends {
    postgres: Backend<LocalPostgres>,
    kafka: Backend<LocalKafka>,
}

#[derive(Debug)]
enum Backend<L> {
    Given(String),
    Local(L),
    #[cfg(feature = "containers")]
    Container(containers::Container),
}

impl Backends {
    /// For [`postgres::SERVER_VARIABLE`](crate::postgres::SERVER_VARIABLE).
    pub fn postgres_url(&self) -> &str {
        match &self.postgres {
            Backend::Given(url) => url,
            Backend::Local(server) => server.url(),
            #[cfg(feature = "containers")]
            Backend::Container(server) => server.address(),
        }
    }

    /// For [`kafka::BROKERS_VARIABLE`](crate::kafka::BROKERS_VARIABLE).
    pub fn kafka_brokers(&self) -> &str {
        match &self.kafka {
            Backend::Given(brokers) => brokers,
            Backend::Local(broker) => broker.brokers(),
            #[cfg(feature = "containers")]
            Backend::Container(broker) => broker.address(),
        }
    }
}
