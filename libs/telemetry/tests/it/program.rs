use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;
use tercet_telemetry::{InitError, LogFormat, init, metrics, propagation};

/// What the program's caller sent along.
pub const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
pub const CALLER_TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a program that the other tests run"]
async fn json() {
    program(LogFormat::Json);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a program that the other tests run"]
async fn pretty() {
    program(LogFormat::Pretty);
}

#[expect(clippy::print_stdout, reason = "its output is what the tests look at")]
fn program(format: LogFormat) {
    let guard = match init("order-service", "order-1", format) {
        Ok(guard) => guard,
        Err(error) => panic!("{error}"),
    };
    assert!(matches!(
        init("order-service", "order-1", format),
        Err(InitError::Twice(_))
    ));

    let order = tracing::info_span!("place_order", tercet.order.id = "o-1", otel.kind = "server");
    let headers = BTreeMap::from([("traceparent".to_owned(), CALLER.to_owned())]);
    propagation::set_parent(&order, &headers);
    order.in_scope(|| {
        let step = tracing::info_span!("step", tercet.saga.step = "reserve-stock");
        step.in_scope(|| {
            tracing::info!(quantity = 3, "asked");
            tracing::warn!(tercet.saga.step = "its own", "asked again");
            let sent = propagation::current_headers();
            println!("\nsent {}", sent["traceparent"]);
        });
    });
    drop(order);
    println!("\nmetrics\n{}", metrics::render().unwrap().0);
    guard.shutdown();
}

pub struct Ran {
    pub stdout: String,
    pub succeeded: bool,
}

impl Ran {
    /// The log lines, read.
    pub fn lines(&self) -> Vec<Value> {
        let json = self.stdout.lines().filter(|line| line.starts_with('{'));
        json.map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub fn line_that_says(&self, message: &str) -> Value {
        let found = self.lines().into_iter().find(|it| it["message"] == message);
        found.unwrap_or_else(|| panic!("no {message:?} in:\n{}", self.stdout))
    }
}

/// Runs the program with nothing of telemetry in its environment but `variables`.
pub fn run(variables: &[(&str, &str)]) -> Ran {
    run_as("program::json", variables)
}

pub fn run_as(program: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(std::env::current_exe().unwrap());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OTEL_")) {
        command.env_remove(name);
    }
    let output = command
        .args(["--exact", program, "--ignored", "--nocapture"])
        .env_remove("RUST_LOG")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    Ran {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        succeeded: output.status.success(),
    }
}
