use std::sync::OnceLock;

use opentelemetry::metrics::{self, Meter};
use opentelemetry::{KeyValue, global};

/// The names of label and value; labels never hold an id.
type Labels<'a> = &'a [(&'static str, &'a str)];

/// From a millisecond to a minute: what a call, a step or a whole saga takes.
const SECONDS: [f64; 15] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];

/// A sum that only grows.
#[derive(Debug)]
pub struct Counter {
    definition: Definition,
    instrument: OnceLock<metrics::Counter<u64>>,
}

/// A value as it is now.
#[derive(Debug)]
pub struct Gauge {
    definition: Definition,
    instrument: OnceLock<metrics::Gauge<f64>>,
}

/// How long things take, in seconds.
#[derive(Debug)]
pub struct Histogram {
    definition: Definition,
    instrument: OnceLock<metrics::Histogram<f64>>,
}

#[derive(Debug, Clone, Copy)]
struct Definition {
    name: &'static str,
    unit: &'static str,
    description: &'static str,
}

impl Counter {
    /// Rendered as `{name with underscores}_total`.
    pub const fn new(name: &'static str, description: &'static str) -> Self {
        let definition = Definition {
            name,
            unit: "",
            description,
        };
        Self {
            definition,
            instrument: OnceLock::new(),
        }
    }

    /// Adds `count`.
    pub fn add(&self, count: u64, labels: Labels<'_>) {
        let instrument = self.instrument.get_or_init(|| {
            let Definition {
                name, description, ..
            } = self.definition;
            meter()
                .u64_counter(name)
                .with_description(description)
                .build()
        });
        instrument.add(count, &key_values(labels));
    }
}

impl Gauge {
    /// Rendered as the name with underscores and, if the unit is `s`, `_seconds`.
    pub const fn new(name: &'static str, unit: &'static str, description: &'static str) -> Self {
        Self {
            definition: Definition {
                name,
                unit,
                description,
            },
            instrument: OnceLock::new(),
        }
    }

    /// Sets the value.
    pub fn record(&self, value: f64, labels: Labels<'_>) {
        let instrument = self.instrument.get_or_init(|| {
            let Definition {
                name,
                unit,
                description,
            } = self.definition;
            meter()
                .f64_gauge(name)
                .with_unit(unit)
                .with_description(description)
                .build()
        });
        instrument.record(value, &key_values(labels));
    }
}

impl Histogram {
    /// Rendered as `{name with underscores}_seconds`.
    pub const fn new(name: &'static str, description: &'static str) -> Self {
        let definition = Definition {
            name,
            unit: "s",
            description,
        };
        Self {
            definition,
            instrument: OnceLock::new(),
        }
    }

    /// Adds one observation.
    pub fn record(&self, seconds: f64, labels: Labels<'_>) {
        let instrument = self.instrument.get_or_init(|| {
            let Definition {
                name,
                unit,
                description,
            } = self.definition;
            meter()
                .f64_histogram(name)
                .with_unit(unit)
                .with_description(description)
                .with_boundaries(SECONDS.to_vec())
                .build()
        });
        instrument.record(seconds, &key_values(labels));
    }
}

fn meter() -> Meter {
    super::registry::installed();
    global::meter("tercet")
}

fn key_values(labels: Labels<'_>) -> Vec<KeyValue> {
    labels
        .iter()
        .map(|(key, value)| KeyValue::new(*key, (*value).to_owned()))
        .collect()
}
