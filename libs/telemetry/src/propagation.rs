//! The trace context, carried from hop to hop as W3C `traceparent` and `tracestate`.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::propagation::{Extractor, Injector};
use opentelemetry::trace::TraceContextExt;
use opentelemetry::{Context, global};
use tonic::metadata::MetadataMap;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The context of the current span, to be stored in a row or sent with a message. Empty outside a
/// trace.
pub fn current_headers() -> BTreeMap<String, String> {
    let mut headers = Headers(BTreeMap::new());
    inject(&mut headers);
    headers.0
}

/// Makes `span` a child of the context in `headers`. Call it before `span` is entered; without a
/// context in `headers` the span stays as it is.
pub fn set_parent(span: &Span, headers: &BTreeMap<String, String>) {
    adopt(span, &StoredHeaders(headers));
}

/// Links `span` to the context in `headers`: for batches, whose members each have a trace.
pub fn add_link(span: &Span, headers: &BTreeMap<String, String>) {
    let context = extract(&StoredHeaders(headers));
    let linked = context.span().span_context().clone();
    if linked.is_valid() {
        span.add_link(linked);
    }
}

/// Adds the current span's context to a request's metadata.
pub fn inject_metadata(metadata: &mut MetadataMap) {
    let mut headers = std::mem::take(metadata).into_headers();
    inject_http(&mut headers);
    *metadata = MetadataMap::from_headers(headers);
}

/// The context a caller sent, to be stored or given to [`set_parent`].
pub fn extract_metadata(metadata: &MetadataMap) -> BTreeMap<String, String> {
    let mut found = Headers(BTreeMap::new());
    let context = extract(&Metadata(metadata));
    global::get_text_map_propagator(|propagator| propagator.inject_context(&context, &mut found));
    found.0
}

/// Adds the current span's context to the headers of an HTTP request.
pub fn inject_http(headers: &mut HeaderMap) {
    inject(&mut Http(headers));
}

/// Makes `span` a child of the context in an HTTP request's headers.
pub fn set_parent_from_http(span: &Span, headers: &HeaderMap) {
    adopt(span, &ReceivedHttp(headers));
}

fn inject(injector: &mut dyn Injector) {
    let context = Span::current().context();
    global::get_text_map_propagator(|propagator| propagator.inject_context(&context, injector));
}

fn extract(extractor: &dyn Extractor) -> Context {
    // From an empty context: the thread's current one must not leak in where nothing was sent.
    let nothing = Context::new();
    global::get_text_map_propagator(|propagator| {
        propagator.extract_with_context(&nothing, extractor)
    })
}

fn adopt(span: &Span, extractor: &dyn Extractor) {
    let parent = extract(extractor);
    if parent.span().span_context().is_valid() {
        // Fails only where tracing is off, and then there is nothing to carry.
        let _ = span.set_parent(parent);
    }
}

struct Headers(BTreeMap<String, String>);

impl Injector for Headers {
    fn set(&mut self, key: &str, value: String) {
        // The propagator writes an empty tracestate; an absent one says the same.
        if !value.is_empty() {
            self.0.insert(key.to_owned(), value);
        }
    }
}

struct StoredHeaders<'a>(&'a BTreeMap<String, String>);

impl Extractor for StoredHeaders<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

struct Metadata<'a>(&'a MetadataMap);

impl Extractor for Metadata<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        Vec::new() // W3C contexts are looked up by name
    }
}

struct Http<'a>(&'a mut HeaderMap);

impl Injector for Http<'_> {
    fn set(&mut self, key: &str, value: String) {
        if value.is_empty() {
            return;
        }
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(key), HeaderValue::try_from(value)) {
            self.0.insert(name, value);
        }
    }
}

struct ReceivedHttp<'a>(&'a HeaderMap);

impl Extractor for ReceivedHttp<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(HeaderName::as_str).collect()
    }
}
