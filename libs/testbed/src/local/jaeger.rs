use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use tempfile::TempDir;
use tokio::net::TcpStream;

use super::daemon::Daemon;
use super::{free_port, programs};
use crate::process::Ready;

const READY_WITHIN: Duration = Duration::from_secs(30);
/// In memory; more than any test or demo makes.
const TRACES_MAX: u32 = 20_000;

/// A private Jaeger: takes spans by OTLP over gRPC, and tells of them by its query API. It keeps them
/// in memory, and ends when dropped; the drop waits for that.
#[derive(Debug)]
pub struct LocalJaeger {
    otlp: String,
    query: String,
    // In this order: the server ends before its folder goes.
    _server: Daemon,
    _folder: TempDir,
}

impl LocalJaeger {
    /// Whether there is a Jaeger on this machine: on PATH, or built into Tercet's cache by
    /// `tools/setup.sh jaeger`.
    ///
    /// # Errors
    /// There is none: why, and what to do.
    pub fn find() -> anyhow::Result<()> {
        programs::jaeger().map(drop)
    }

    /// Returns when it takes spans and answers queries.
    ///
    /// # Errors
    /// There is none on this machine, or it does not come up; the error shows the end of its log.
    pub async fn start() -> anyhow::Result<Self> {
        let program = programs::jaeger()?;
        let folder = tempfile::Builder::new()
            .prefix("tercet-jaeger-")
            .tempdir()?;
        let (otlp, query, query_grpc) = (free_port(), free_port(), free_port());
        let config = folder.path().join("jaeger.yaml");
        std::fs::write(&config, settings(otlp, query, query_grpc))?;

        let mut command = Command::new(&program);
        command.arg("--config").arg(&config);
        command.current_dir(folder.path());
        // SIGKILL: it has nothing to save, and an orderly end takes it ten seconds.
        let log = folder.path().join("jaeger.log");
        let mut server = Daemon::start("Jaeger", command, log, Signal::SIGKILL)?;
        let answers = Ready::Http {
            address: ([127, 0, 0, 1], query).into(),
            path: "/api/services".to_owned(),
        };
        server
            .wait_ready(READY_WITHIN, async || {
                answers.probe().await?;
                let takes_spans = TcpStream::connect(("127.0.0.1", otlp)).await;
                takes_spans.map(drop).map_err(|error| error.to_string())
            })
            .await?;
        Ok(Self {
            otlp: format!("http://127.0.0.1:{otlp}"),
            query: format!("http://127.0.0.1:{query}"),
            _server: server,
            _folder: folder,
        })
    }

    /// For `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn otlp_url(&self) -> &str {
        &self.otlp
    }

    /// Its page, and its query API: `/api/traces/{trace id}`.
    pub fn query_url(&self) -> &str {
        &self.query
    }
}

fn settings(otlp: u16, query: u16, query_grpc: u16) -> String {
    format!(
        "service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [jaeger_storage_exporter]
  telemetry:
    metrics:
      level: none
extensions:
  jaeger_storage:
    backends:
      memory:
        memory:
          max_traces: {TRACES_MAX}
  jaeger_query:
    storage:
      traces: memory
    http:
      endpoint: 127.0.0.1:{query}
    grpc:
      endpoint: 127.0.0.1:{query_grpc}
receivers:
  otlp:
    protocols:
      grpc:
        endpoint: 127.0.0.1:{otlp}
exporters:
  jaeger_storage_exporter:
    trace_storage: memory
"
    )
}
