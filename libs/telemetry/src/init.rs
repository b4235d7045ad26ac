//! Sets up logs, traces and metrics for one program, and flushes them at its end.

use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{KeyValue, global};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::metrics;

/// For the last spans to leave; an exporter out of reach must not hold up the end of a process.
const FLUSH_WITHIN: Duration = Duration::from_secs(3);
const NAMESPACE: &str = "tercet";

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// One JSON object a line, for machines.
    #[default]
    Json,
    /// For people at a terminal.
    Pretty,
}

/// Not a log format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is no log format: json or pretty")]
pub struct UnknownLogFormat {
    given: String,
}

impl std::str::FromStr for LogFormat {
    type Err = UnknownLogFormat;

    fn from_str(text: &str) -> Result<Self, UnknownLogFormat> {
        match text {
            "json" => Ok(Self::Json),
            "pretty" => Ok(Self::Pretty),
            _ => Err(UnknownLogFormat {
                given: text.to_owned(),
            }),
        }
    }
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

/// Flushes what is left when the program ends. Keep it until then.
#[derive(Debug)]
#[must_use]
pub struct Guard {
    provider: SdkTracerProvider,
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
/// [`metrics::render`].
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
    metrics::install();
    global::set_text_map_propagator(TraceContextPropagator::new());

    let provider = tracer_provider(
        resource(service, instance_id),
        exports(|name| std::env::var(name).ok()),
    )?;
    let tracer = provider.tracer(NAMESPACE);
    global::set_tracer_provider(provider.clone());

    let filter = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(given) if !given.is_empty() => EnvFilter::builder()
            .parse(given)
            .map_err(InitError::Filter)?,
        _ => EnvFilter::new("info"),
    };
    let logs = match format {
        LogFormat::Json => fmt::layer()
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .with_span_list(false)
            .boxed(),
        LogFormat::Pretty => fmt::layer().boxed(),
    };
    tracing_subscriber::registry()
        .with(filter)
        .with(tracing_opentelemetry::layer().with_tracer(tracer))
        .with(logs)
        .try_init()?;
    Ok(Guard { provider })
}

fn tracer_provider(resource: Resource, export: bool) -> Result<SdkTracerProvider, InitError> {
    let builder = SdkTracerProvider::builder().with_resource(resource);
    // Without an exporter spans still have ids: they are in logs and in stored contexts.
    Ok(if export {
        let exporter = SpanExporter::builder().with_tonic().build()?;
        builder.with_batch_exporter(exporter).build()
    } else {
        builder.build()
    })
}

/// `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win: the builder reads them itself.
fn resource(service: &'static str, instance_id: &str) -> Resource {
    let own = [
        KeyValue::new("service.name", service),
        KeyValue::new("service.namespace", NAMESPACE),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", instance_id.to_owned()),
    ];
    Resource::builder_empty()
        .with_attributes(own)
        .with_detectors(&[Box::new(
            opentelemetry_sdk::resource::EnvResourceDetector::new(),
        )])
        .build()
}

fn exports(variable: impl Fn(&str) -> Option<String>) -> bool {
    let disabled = variable("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let endpoint = [
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    ]
    .into_iter()
    .any(|name| variable(name).is_some_and(|it| !it.is_empty()));
    endpoint && !disabled
}

#[cfg(test)]
mod tests {
    use super::exports;

    fn with(variables: &[(&str, &str)]) -> bool {
        exports(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn spans_are_exported_only_where_somebody_asked_for_it() {
        assert!(!with(&[]));
        assert!(!with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]));
        assert!(with(&[(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "http://localhost:4317"
        )]));
        assert!(with(&[(
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "http://localhost:4317"
        )]));
    }

    #[test]
    fn the_sdk_can_be_turned_off() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317");
        assert!(!with(&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")]));
        assert!(with(&[endpoint, ("OTEL_SDK_DISABLED", "false")]));
    }
}
