//! The consumer's metrics, under the process's global meter. Names and units live here alone.

use opentelemetry::{
    KeyValue, global,
    metrics::{Counter, Gauge, Histogram, UpDownCounter},
};

const SECONDS: [f64; 12] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];

/// Made with the consumer: set the global meter provider before.
#[derive(Debug)]
pub(crate) struct Metrics {
    consumer: KeyValue,
    messages: Counter<u64>,
    failures: Counter<u64>,
    parked: Counter<u64>,
    rebuilds: Counter<u64>,
    held: UpDownCounter<i64>,
    lag: Gauge<i64>,
    process_duration: Histogram<f64>,
}

impl Metrics {
    pub(crate) fn new(consumer: &str) -> Self {
        let meter = global::meter("tercet-inbox");
        Self {
            consumer: KeyValue::new("consumer", consumer.to_owned()),
            messages: meter
                .u64_counter("tercet.inbox.messages")
                .with_description("Messages that were handled, by result")
                .build(),
            failures: meter
                .u64_counter("tercet.inbox.failures")
                .with_description("Tries that failed and are made again")
                .build(),
            parked: meter
                .u64_counter("tercet.inbox.parked")
                .with_description("Messages that were parked as dead letters")
                .build(),
            rebuilds: meter
                .u64_counter("tercet.inbox.rebuilds")
                .with_description("Times the Kafka client was built anew")
                .build(),
            held: meter
                .i64_up_down_counter("tercet.inbox.held_messages")
                .with_description(
                    "Messages that failed and hold their partition until they succeed",
                )
                .build(),
            lag: meter
                .i64_gauge("tercet.inbox.lag")
                .with_description("Messages on the assigned partitions that were not read yet")
                .build(),
            process_duration: meter
                .f64_histogram("tercet.inbox.process.duration")
                .with_unit("s")
                .with_boundaries(SECONDS.to_vec())
                .with_description("One try of the handler")
                .build(),
        }
    }

    pub(crate) fn handled(&self, result: &'static str, seconds: f64) {
        self.messages
            .add(1, &[self.consumer.clone(), KeyValue::new("result", result)]);
        self.process_duration
            .record(seconds, std::slice::from_ref(&self.consumer));
    }

    pub(crate) fn failed(&self) {
        self.failures.add(1, std::slice::from_ref(&self.consumer));
    }

    pub(crate) fn parked(&self) {
        self.parked.add(1, std::slice::from_ref(&self.consumer));
    }

    pub(crate) fn rebuilt(&self) {
        self.rebuilds.add(1, std::slice::from_ref(&self.consumer));
    }

    pub(crate) fn held(&self, change: i64) {
        self.held.add(change, std::slice::from_ref(&self.consumer));
    }

    pub(crate) fn lag(&self, messages: i64) {
        self.lag
            .record(messages, std::slice::from_ref(&self.consumer));
    }
}
