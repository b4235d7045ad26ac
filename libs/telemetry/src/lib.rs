//! Logs, traces and metrics under the names the ecosystem expects.
//!
//! [`init`] sets up all three for a program and returns a [`Guard`] that flushes at the end.
//! [`propagation`] carries the trace context over every hop Tercet has: gRPC metadata, HTTP headers,
//! and maps of headers that are stored in rows and sent with Kafka messages. [`metrics`] names every
//! metric in one place and renders them for Prometheus.
//!
//! The `OTEL_*` variables of the OpenTelemetry specification are honoured; there are no settings of
//! our own for the same thing. Without `OTEL_EXPORTER_OTLP_ENDPOINT` nothing is exported, but traces
//! still have ids: they are in every log line and in every stored context.

#![warn(missing_docs)]

mod init;
pub mod metrics;
pub mod propagation;

pub use init::{Guard, InitError, LogFormat, init};
