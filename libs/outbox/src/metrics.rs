//! The relay's metrics, under the process's global meter. Names and units live here alone.

use opentelemetry::{
    KeyValue, global,
    metrics::{Counter, Gauge, Histogram},
};

/// From a millisecond to the longest delivery timeout.
const SECONDS: [f64; 12] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];

/// Made with the relay: set the global meter provider before.
#[derive(Debug)]
pub(crate) struct Metrics {
    pending: Gauge<i64>,
    oldest_pending: Gauge<f64>,
    partitions: Gauge<u64>,
    published: Counter<u64>,
    failed: Counter<u64>,
    quarantined: Counter<u64>,
    publish_duration: Histogram<f64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let meter = global::meter("tercet-outbox");
        Self {
            pending: meter
                .i64_gauge("tercet.outbox.pending")
                .with_description("Events that the broker has not acknowledged, up to 100000")
                .build(),
            oldest_pending: meter
                .f64_gauge("tercet.outbox.oldest_pending")
                .with_unit("s")
                .with_description("Age of the oldest event that the broker has not acknowledged")
                .build(),
            partitions: meter
                .u64_gauge("tercet.outbox.leased_partitions")
                .with_description("Partitions that this relay publishes")
                .build(),
            published: meter
                .u64_counter("tercet.outbox.published")
                .with_description("Events that the broker has acknowledged")
                .build(),
            failed: meter
                .u64_counter("tercet.outbox.publish_failures")
                .with_description("Tries that the broker did not acknowledge, by kind")
                .build(),
            quarantined: meter
                .u64_counter("tercet.outbox.quarantined")
                .with_description("Events that the broker refused too often")
                .build(),
            publish_duration: meter
                .f64_histogram("tercet.outbox.publish.duration")
                .with_unit("s")
                .with_boundaries(SECONDS.to_vec())
                .with_description("From queueing a record to its delivery report")
                .build(),
        }
    }

    pub(crate) fn published(&self, seconds: f64) {
        self.published.add(1, &[]);
        self.publish_duration.record(seconds, &[]);
    }

    pub(crate) fn failed(&self, kind: &'static str) {
        self.failed.add(1, &[KeyValue::new("kind", kind)]);
    }

    pub(crate) fn quarantined(&self) {
        self.quarantined.add(1, &[]);
    }

    pub(crate) fn backlog(&self, pending: i64, oldest_seconds: f64) {
        self.pending.record(pending, &[]);
        self.oldest_pending.record(oldest_seconds, &[]);
    }

    pub(crate) fn leased(&self, partitions: usize) {
        self.partitions.record(partitions as u64, &[]);
    }
}
