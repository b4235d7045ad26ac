use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::FutureExt;
use http::{Request, Response};
use tercet_grpc_status::{Code, ErrorDomain};
use tercet_telemetry::metrics::definitions::{RPC_SERVER_CALL_DURATION, RPC_SHED};
use tercet_telemetry::propagation;
use tokio::time::{Instant, timeout_at};
use tonic::body::Body;
use tower::{Layer, Service};
use tracing::{Instrument, Span, field};

use super::answer;
use super::deadline::Deadline;
use super::in_flight::InFlight;
use super::limits::Limits;

/// What every call passes through, probes aside.
#[derive(Debug, Clone)]
pub(super) struct CallLayer {
    pub(super) domain: ErrorDomain,
    pub(super) limits: Limits,
    pub(super) in_flight: InFlight,
}

impl<S> Layer<S> for CallLayer {
    type Service = Call<S>;

    fn layer(&self, inner: S) -> Call<S> {
        Call {
            inner,
            layer: self.clone(),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Call<S> {
    inner: S,
    layer: CallLayer,
}

type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

impl<S> Service<Request<Body>> for Call<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Answer {
        let CallLayer {
            domain,
            limits,
            in_flight,
        } = self.layer.clone();
        let method = request.uri().path().trim_start_matches('/').to_owned();
        // Probes must be answered above all when the server is full, and watching health is not work.
        if method.starts_with("grpc.health.") || method.starts_with("grpc.reflection.") {
            return Box::pin(self.inner.call(request));
        }
        let Some(place) = in_flight.enter() else {
            RPC_SHED.add(1, &[("rpc_method", &method)]);
            return Box::pin(async move { Ok(answer::overloaded(domain)) });
        };

        let deadline = Deadline::of(request.headers(), limits.deadline_max);
        request.extensions_mut().insert(deadline);
        let span = span(&method);
        propagation::set_parent_from_http(&span, request.headers());

        let started = Instant::now();
        let work = AssertUnwindSafe(span.in_scope(|| self.inner.call(request))).catch_unwind();
        Box::pin(
            async move {
                let response = match timeout_at(deadline.at(), work).await {
                    Ok(Ok(Ok(response))) => response,
                    // The panic hook has told where; the connection's other calls go on.
                    Ok(Err(_panic)) => answer::panicked(domain),
                    Err(_elapsed) => answer::too_late(domain),
                };
                record(&method, answer::code(response.headers()), started);
                Ok(answer::hold(response, place.done()))
            }
            .instrument(span),
        )
    }
}

fn span(method: &str) -> Span {
    tracing::info_span!(
        "rpc",
        otel.name = method,
        otel.kind = "server",
        otel.status_code = field::Empty,
        rpc.system.name = "grpc",
        rpc.method = method,
        rpc.status_code = field::Empty,
        error.r#type = field::Empty,
    )
}

fn record(method: &str, code: Code, started: Instant) {
    let (name, elapsed) = (answer::name(code), started.elapsed());
    let labels = [("rpc_method", method), ("rpc_status_code", name)];
    RPC_SERVER_CALL_DURATION.record(elapsed.as_secs_f64(), &labels);

    let span = Span::current();
    span.record("rpc.status_code", name);
    if code != Code::Ok {
        span.record("error.type", name);
    }
    match code {
        // Ours; a handler that returned one of these has logged the chain, here is the call.
        Code::Unknown | Code::Internal | Code::DataLoss | Code::Unimplemented => {
            span.record("otel.status_code", "ERROR");
            tracing::error!(method, code = name, ?elapsed, "call failed");
        }
        Code::DeadlineExceeded | Code::Unavailable => {
            span.record("otel.status_code", "ERROR");
            tracing::warn!(method, code = name, ?elapsed, "call failed");
        }
        _ => tracing::debug!(method, code = name, ?elapsed, "call answered"),
    }
}
