//! Log lines that name their trace and everything their spans know: an order's id is said once, by
//! the span that works on it, and stands in every line below.

use std::fmt;

use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt;
use serde_json::{Map, Value};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{self, Format, Full, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// Meant for the exporter, not for readers of logs.
const NOT_SHOWN: &str = "otel.";

/// One JSON object a line.
#[derive(Debug)]
pub(super) struct Json {
    event: Format<format::Json>,
}

impl Default for Json {
    fn default() -> Self {
        let event = Format::default().json().flatten_event(true);
        Self {
            event: event.with_current_span(false).with_span_list(false),
        }
    }
}

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::new();
        self.event
            .format_event(context, Writer::new(&mut line), event)?;
        let own: Map<String, Value> = serde_json::from_str(&line).map_err(|_| fmt::Error)?;

        let open = line.trim_end().strip_suffix('}').ok_or(fmt::Error)?;
        writer.write_str(open)?;
        for (key, value) in around(context).into_iter().chain(ids()) {
            // A key twice in one object would be read by each reader in another way.
            if !own.contains_key(&key) {
                write!(writer, ",{}:{value}", Value::String(key))?;
            }
        }
        writeln!(writer, "}}")
    }
}

/// What the spans around an event know; the inner ones win.
fn around<S, N>(context: &FmtContext<'_, S, N>) -> Map<String, Value>
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    let mut known = Map::new();
    for span in context
        .event_scope()
        .into_iter()
        .flat_map(tracing_subscriber::registry::Scope::from_root)
    {
        known.insert("span".to_owned(), Value::from(span.name()));
        let extensions = span.extensions();
        let Some(fields) = extensions.get::<FormattedFields<N>>() else {
            continue;
        };
        if let Ok(fields) = serde_json::from_str::<Map<String, Value>>(fields) {
            let shown = fields
                .into_iter()
                .filter(|(key, _)| !key.starts_with(NOT_SHOWN));
            known.extend(shown);
        }
    }
    known
}

/// The current span's ids, by the names OpenTelemetry gives them in logs.
fn ids() -> Vec<(String, Value)> {
    let current = Context::current();
    let span = current.span().span_context().clone();
    if !span.is_valid() {
        return Vec::new();
    }
    vec![
        ("trace_id".to_owned(), span.trace_id().to_string().into()),
        ("span_id".to_owned(), span.span_id().to_string().into()),
    ]
}

/// For people: as `tracing` writes it, with the trace at the end.
#[derive(Debug, Default)]
pub(super) struct Pretty {
    event: Format<Full>,
}

impl<S, N> FormatEvent<S, N> for Pretty
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::new();
        self.event
            .format_event(context, Writer::new(&mut line), event)?;
        writer.write_str(line.trim_end())?;
        let trace = Context::current().span().span_context().trace_id();
        if trace != opentelemetry::TraceId::INVALID {
            write!(writer, " trace_id={trace}")?;
        }
        writeln!(writer)
    }
}
