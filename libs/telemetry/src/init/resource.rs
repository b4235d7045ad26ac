use opentelemetry::KeyValue;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};

use super::NAMESPACE;

/// All of Tercet is released together.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Who speaks. `OTEL_RESOURCE_ATTRIBUTES` goes before ours, `OTEL_SERVICE_NAME` before both.
pub(super) fn of(
    service: &'static str,
    instance_id: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Resource {
    let ours = [
        KeyValue::new("service.name", service),
        KeyValue::new("service.namespace", NAMESPACE),
        KeyValue::new("service.version", VERSION),
        KeyValue::new("service.instance.id", instance_id.to_owned()),
    ];
    let builder = Resource::builder_empty()
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_attributes(ours)
        .with_detector(Box::new(EnvResourceDetector::new()));
    match variable("OTEL_SERVICE_NAME") {
        Some(name) => builder.with_service_name(name).build(),
        None => builder.build(),
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::Key;

    use super::of;

    #[test]
    fn a_name_given_by_the_operator_wins() {
        let name = |resource: opentelemetry_sdk::Resource| {
            resource.get(&Key::new("service.name")).unwrap().to_string()
        };
        assert_eq!(name(of("order-service", "a", |_| None)), "order-service");
        let given = |name: &str| (name == "OTEL_SERVICE_NAME").then(|| "orders".to_owned());
        assert_eq!(name(of("order-service", "a", given)), "orders");
    }
}
