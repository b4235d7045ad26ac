//! The relay's settings. The defaults suit a service that is killed and started again at any time.

use std::time::Duration;

use crate::Error;

/// Between the last report that can come and the end of the lease.
const LEASE_MARGIN: Duration = Duration::from_millis(500);

/// How a [`Relay`](crate::Relay) works.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RelayOptions {
    /// This process's name among the relays of one database. Two live processes must never share
    /// one. A process that keeps its name over a restart has its partitions back at once.
    pub owner: String,
    /// `ce_source` of every record, a URI reference such as `//tercet/payment`.
    pub source: String,
    /// `ce_dataschema` of a record is this and the event's type.
    pub schema_base: String,
    /// How long a partition is leased. After a kill, another relay waits this long for it. More than
    /// twice the publisher's delivery timeout.
    pub lease: Duration,
    /// Events in the relay's hands at once: the bound on its memory.
    pub in_flight_max: usize,
    /// Tries that the broker refused before an event is quarantined.
    pub attempts_max: u32,
    /// The wait after the first refused try; it doubles with each, with jitter.
    pub backoff_first: Duration,
    /// The longest wait between refused tries.
    pub backoff_max: Duration,
    /// The wait after a try that says nothing about the event: the broker could not be asked.
    pub backoff_unavailable: Duration,
    /// The shortest time between two looks at the table, right after one that found something.
    pub poll_min: Duration,
    /// The longest, after looks that found nothing.
    pub poll_max: Duration,
    /// How long a stopping relay goes on to publish what is committed.
    pub drain: Duration,
    /// How long a published event's row is kept.
    pub keep: Duration,
}

impl RelayOptions {
    /// The defaults, for the process `owner` of the service that `source` names.
    pub fn new(owner: impl Into<String>, source: impl Into<String>) -> Self {
        let source = source.into();
        Self {
            owner: owner.into(),
            schema_base: format!("{source}/schemas/"),
            source,
            lease: Duration::from_secs(5),
            in_flight_max: 512,
            attempts_max: 10,
            backoff_first: Duration::from_millis(200),
            backoff_max: Duration::from_secs(30),
            backoff_unavailable: Duration::from_millis(300),
            poll_min: Duration::from_millis(5),
            poll_max: Duration::from_millis(500),
            drain: Duration::from_secs(2),
            keep: Duration::from_hours(7 * 24),
        }
    }

    /// How long before its end a lease stops being used. An error if nothing of it would be left.
    pub(crate) fn lease_reserve(&self, delivery_timeout: Duration) -> Result<Duration, Error> {
        if delivery_timeout * 2 >= self.lease {
            return Err(Error::LeaseTooShort {
                lease: self.lease,
                delivery_timeout,
            });
        }
        Ok(delivery_timeout + LEASE_MARGIN.min(self.lease / 10))
    }

    /// The wait after the n-th refused try (from 1), where `random` is in 0..1: half of it is fixed,
    /// so that no event hammers the broker.
    pub(crate) fn backoff(&self, attempt: u32, random: f64) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1).min(20));
        let full = self
            .backoff_first
            .saturating_mul(doubled)
            .min(self.backoff_max);
        full / 2 + (full / 2).mul_f64(random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_must_outlast_two_deliveries() {
        let options = RelayOptions::new("a", "//test");
        assert!(options.lease_reserve(Duration::from_millis(2_499)).is_ok());
        assert!(options.lease_reserve(Duration::from_millis(2_500)).is_err());
    }

    #[test]
    fn the_backoff_doubles_to_its_bound() {
        let options = RelayOptions::new("a", "//test");
        assert_eq!(options.backoff(1, 1.0), Duration::from_millis(200));
        assert_eq!(options.backoff(2, 1.0), Duration::from_millis(400));
        assert_eq!(options.backoff(2, 0.0), Duration::from_millis(200));
        assert_eq!(options.backoff(1_000, 1.0), Duration::from_secs(30));
    }
}
