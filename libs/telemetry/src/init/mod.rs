//! Sets up logs, traces and metrics for one program, and flushes them at its end.

mod lines;
mod resource;
mod traces;

use std::time::Duration;

use opentelemetry::global;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::filter::{FilterExt, LevelFilter, ParseError, filter_fn};
use tracing_subscriber::fmt::format::JsonFields;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::metrics;
use crate::metrics::definitions::BUILD_INFO;

/// For the last spans to leave; an exporter out of reach must not hold up the end of a process.
const FLUSH_WITHIN: Duration = Duration::from_secs(3);
/// Of every service, and the name of the one tracer.
const NAMESPACE: &str = "tercet";

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum LogFormat {
    /// One JSON object a line, for machines.
    #[default]
    Json,
    /// For people at a terminal.
    Pretty,
}

/// Why there is no telemetry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// `RUST_LOG` cannot be read.
    #[error("RUST_LOG is not a log filter")]
    Filter(#[source] ParseError),
    /// The `OTEL_EXPORTER_OTLP_*` variables do not make an exporter.
    #[error("the OTLP exporter cannot be set up")]
    Exporter(#[from] ExporterBuildError),
    /// This process has telemetry already.
    #[error("telemetry was set up before")]
    Twice(#[from] TryInitError),
}

impl InitError {
    /// Never: each is a mistake in the variables or in the program.
    pub fn is_transient(&self) -> bool {
        false
    }
}

/// Flushes what is left when the program ends. Keep it until then.
#[derive(Debug)]
#[must_use]
pub struct Guard {
    provider: SdkTracerProvider,
}

impl Guard {
    /// Exports the last spans, within a bound; dropping the guard does the same.
    pub fn shutdown(self) {
        drop(self);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown_with_timeout(FLUSH_WITHIN) {
            tracing::warn!(%error, "the last spans were not exported");
        }
    }
}

/// Logs to stdout, filtered by `RUST_LOG` (default `info`); spans to
/// `OTEL_EXPORTER_OTLP_ENDPOINT`, if that is set and `OTEL_SDK_DISABLED` is not `true`; metrics to
/// [`metrics::render`]. To be called inside a multi-threaded tokio runtime: the exporter sends on it,
/// also while the [`Guard`] waits.
///
/// `instance_id` tells the instances of a service apart: `service.instance.id`.
///
/// # Errors
/// A variable cannot be read, or telemetry was set up before.
#[expect(
    clippy::disallowed_methods,
    reason = "OTEL_* and RUST_LOG belong to OpenTelemetry and tracing; they are no settings of ours"
)]
pub fn init(
    service: &'static str,
    instance_id: &str,
    format: LogFormat,
) -> Result<Guard, InitError> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let filter = match variable(EnvFilter::DEFAULT_ENV) {
        Some(given) => EnvFilter::builder()
            .parse(given)
            .map_err(InitError::Filter)?,
        None => EnvFilter::new("info"),
    };
    let resource = resource::of(service, instance_id, variable);
    metrics::install(&resource);
    global::set_text_map_propagator(TraceContextPropagator::new());
    let provider = traces::provider(resource, variable)?;
    global::set_tracer_provider(provider.clone());

    let logs = match format {
        LogFormat::Json => fmt::layer()
            .fmt_fields(JsonFields::new())
            .event_format(lines::Json::default())
            .boxed(),
        LogFormat::Pretty => fmt::layer()
            .with_ansi(false)
            .event_format(lines::Pretty::default())
            .boxed(),
    };
    // RUST_LOG chooses lines. Spans are kept whatever it says: the lines that remain still name
    // their order, and a quiet service does not tear its callers' traces.
    let spans = filter_fn(|metadata| metadata.is_span() && *metadata.level() <= LevelFilter::INFO);
    let traces = tracing_opentelemetry::layer().with_tracer(provider.tracer(NAMESPACE));
    tracing_subscriber::registry()
        .with(traces.with_filter(LevelFilter::INFO))
        .with(logs.with_filter(filter.or(spans)))
        .try_init()?;
    BUILD_INFO.record(
        1.0,
        &[("service_name", service), ("version", resource::VERSION)],
    );
    Ok(Guard { provider })
}
