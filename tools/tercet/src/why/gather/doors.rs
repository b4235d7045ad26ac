//! Who is at home: the services' `/readyz`, and the processor's port.

use std::time::Duration;

use serde::Deserialize;
use tokio::net::TcpStream;

use crate::why::facts::Health;

/// Longer than any healthy part takes, and short of the whole command's time.
const WITHIN: Duration = Duration::from_millis(700);

#[derive(Deserialize)]
struct Report {
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct Check {
    name: String,
    ready: bool,
    reason: Option<String>,
}

/// Asks a service what it lacks. `address`: where its admin HTTP is, as `host:port` or as a URL.
pub(super) async fn health(address: &str) -> Result<Health, String> {
    let base = address.trim_start_matches("http://").trim_end_matches('/');
    let client = reqwest::Client::builder()
        .timeout(WITHIN)
        .no_proxy()
        .build()
        .map_err(|error| error.to_string())?;
    let answer = client.get(format!("http://{base}/readyz")).send().await;
    let report: Result<Report, _> = match answer {
        Ok(answer) => answer.json().await,
        Err(error) => return Err(unreachable(base, &error)),
    };
    let report = report.map_err(|_| format!("{base} answers, but not as one of our services"))?;
    let lacks = report.checks.into_iter().filter(|check| !check.ready);
    Ok(Health {
        lacks: lacks
            .map(|check| format!("{}: {}", check.name, check.reason.unwrap_or_default()))
            .collect(),
    })
}

fn unreachable(base: &str, error: &reqwest::Error) -> String {
    if error.is_timeout() {
        format!("{base} does not answer within {} ms", WITHIN.as_millis())
    } else if error.is_connect() {
        format!("{base} takes no connections")
    } else {
        format!("{base} hangs up")
    }
}

/// Knocks at the processor's port: its API has nothing that could be asked without an effect or a key.
pub(super) async fn gateway(url: &str) -> Result<(), String> {
    let url = reqwest::Url::parse(url).map_err(|_| format!("{url:?} is no URL"))?;
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    knock(host, port).await
}

/// Whether somebody takes connections there.
pub(super) async fn knock(host: &str, port: u16) -> Result<(), String> {
    match tokio::time::timeout(WITHIN, TcpStream::connect((host, port))).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(format!("{host}:{port}: {}", plain(&error))),
        Err(_) => Err(format!(
            "{host}:{port}: no answer within {} ms",
            WITHIN.as_millis()
        )),
    }
}

/// Without the system's number.
pub(super) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}
