use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;

use super::InitError;

/// Without an exporter spans still have ids: they are in logs and in stored contexts.
pub(super) fn provider(
    resource: Resource,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<SdkTracerProvider, InitError> {
    let builder = SdkTracerProvider::builder().with_resource(resource);
    Ok(if exports(variable) {
        let exporter = SpanExporter::builder().with_tonic().build()?;
        builder.with_batch_exporter(exporter).build()
    } else {
        builder.build()
    })
}

fn exports(variable: impl Fn(&str) -> Option<String>) -> bool {
    let disabled = variable("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let endpoint = variable("OTEL_EXPORTER_OTLP_ENDPOINT")
        .or_else(|| variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"));
    endpoint.is_some() && !disabled
}

#[cfg(test)]
mod tests {
    use super::exports;

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317");

    fn with(variables: &[(&str, &str)]) -> bool {
        exports(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn spans_are_exported_only_where_somebody_asked_for_it() {
        assert!(!with(&[]));
        assert!(with(&[ENDPOINT]));
        assert!(with(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ENDPOINT.1)]));
    }

    #[test]
    fn the_sdk_can_be_turned_off() {
        assert!(!with(&[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")]));
        assert!(with(&[ENDPOINT, ("OTEL_SDK_DISABLED", "false")]));
    }
}
