use std::sync::{LazyLock, OnceLock};

use opentelemetry::global;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Encoder, Registry, TextEncoder};

/// Who measures, for `target_info`; unknown where only a library is being tested.
static RESOURCE: OnceLock<Resource> = OnceLock::new();

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let registry = Registry::new();
    let exporter = opentelemetry_prometheus::exporter()
        .with_registry(registry.clone())
        .scope_info_enabled(false) // one scope only: its labels would say nothing
        .build();
    match exporter {
        Ok(exporter) => {
            let resource = RESOURCE.get().cloned();
            let provider = SdkMeterProvider::builder()
                .with_reader(exporter)
                .with_resource(resource.unwrap_or_else(|| Resource::builder().build()));
            global::set_meter_provider(provider.build());
        }
        Err(error) => tracing::error!(%error, "metrics are off"),
    }
    registry
});

/// What `/metrics` shows; collectors of one's own may be registered too.
pub fn registry() -> &'static Registry {
    &REGISTRY
}

/// All metrics in Prometheus' text format, and its content type.
///
/// # Errors
/// A registered collector yields what the format cannot hold.
pub fn render() -> Result<(String, String), prometheus::Error> {
    let encoder = TextEncoder::new();
    let mut text = Vec::new();
    encoder.encode(&REGISTRY.gather(), &mut text)?;
    Ok((
        String::from_utf8_lossy(&text).into_owned(),
        encoder.format_type().to_owned(),
    ))
}

/// Names who measures. Without effect once an instrument was used.
pub(crate) fn install(resource: &Resource) {
    RESOURCE.get_or_init(|| resource.clone());
    installed();
}

/// Instruments bind to the provider that is installed when they are first used.
pub(super) fn installed() {
    LazyLock::force(&REGISTRY);
}
