//! The plain HTTP side of a service: `/metrics`, `/healthz`, `/readyz`.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::shutdown::Shutdown;

const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// The status line is all that counts.
const PROBE_BYTES_MAX: u64 = 4096;
/// For scrapes at work when the process ends; a silent connection must not hold it up.
const DRAIN: Duration = Duration::from_secs(1);

/// What the service needs in order to take work, by name. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Readiness {
    checks: Arc<Mutex<BTreeMap<&'static str, Result<(), String>>>>,
}

impl Readiness {
    /// Not ready until each of `names` has been set to `Ok`.
    pub fn new(names: impl IntoIterator<Item = &'static str>) -> Self {
        let starting = names
            .into_iter()
            .map(|name| (name, Err("starting".to_owned())))
            .collect();
        Self {
            checks: Arc::new(Mutex::new(starting)),
        }
    }

    /// Sets a check, and logs it where it changed.
    pub fn set(&self, name: &'static str, state: Result<(), String>) {
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        let before = checks.insert(name, state.clone());
        if before.as_ref() == Some(&state) {
            return;
        }
        match state {
            Ok(()) => tracing::info!(check = name, "ready"),
            Err(reason) => tracing::warn!(check = name, reason, "not ready"),
        }
    }

    /// All checks hold.
    pub fn is_ready(&self) -> bool {
        self.checks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .all(Result::is_ok)
    }

    fn report(&self) -> Report {
        let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        let check = |(name, state): (&&'static str, &Result<(), String>)| Check {
            name,
            ready: state.is_ok(),
            reason: state.as_ref().err().cloned(),
        };
        let checks: Vec<Check> = checks.iter().map(check).collect();
        Report {
            ready: checks.iter().all(|check| check.ready),
            checks,
        }
    }
}

#[derive(Serialize)]
struct Report {
    ready: bool,
    checks: Vec<Check>,
}

#[derive(Serialize)]
struct Check {
    name: &'static str,
    ready: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Serves until [`Shutdown::workers`]; `/readyz` says no as soon as the shutdown has begun.
///
/// # Errors
/// The listener fails.
pub async fn serve(
    listener: TcpListener,
    readiness: Readiness,
    shutdown: Shutdown,
) -> std::io::Result<()> {
    let router = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(readiness.clone());
    let workers = shutdown.workers();
    let serving = axum::serve(listener, router)
        .with_graceful_shutdown(workers.clone().cancelled_owned())
        .into_future();
    let not_ready = async {
        shutdown.begun().cancelled().await;
        readiness.set("shutdown", Err("shutting down".to_owned()));
        std::future::pending::<()>().await;
    };
    let bound = async {
        workers.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        served = serving => served,
        () = not_ready => Ok(()),
        () = bound => Ok(()),
    }
}

async fn readyz(State(readiness): State<Readiness>) -> Response {
    let report = readiness.report();
    let status = if report.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(report)).into_response()
}

async fn metrics() -> Response {
    match tercet_telemetry::metrics::render() {
        Ok((text, content_type)) => ([(header::CONTENT_TYPE, content_type)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "cannot render metrics");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The `healthcheck` command: asks `/readyz` of the service whose admin address is `address`, so
/// that an image needs neither shell nor curl.
pub async fn healthcheck(address: SocketAddr) -> ExitCode {
    match tokio::time::timeout(PROBE_TIMEOUT, probe(address)).await {
        Ok(Ok(answer)) if answer.starts_with("HTTP/1.1 200") => ExitCode::SUCCESS,
        Ok(Ok(answer)) => {
            eprintln!("not ready: {}", answer.lines().last().unwrap_or_default());
            ExitCode::FAILURE
        }
        Ok(Err(error)) => {
            eprintln!("cannot reach {address}: {error}");
            ExitCode::FAILURE
        }
        Err(_elapsed) => {
            eprintln!("no answer from {address} within {PROBE_TIMEOUT:?}");
            ExitCode::FAILURE
        }
    }
}

async fn probe(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(reachable(address)).await?;
    let request = "GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream
        .take(PROBE_BYTES_MAX)
        .read_to_end(&mut answer)
        .await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// A service that listens everywhere is asked on the loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
