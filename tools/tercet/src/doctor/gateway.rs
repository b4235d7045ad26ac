//! The card processor: the simulator says that it is one; of a real one only the port is known.

use std::time::Duration;

const WITHIN: Duration = Duration::from_secs(2);

/// Whether the simulator answers, where it would be: on this machine.
pub(super) async fn look(url: &str) -> Result<(), String> {
    let base = url.trim_end_matches('/');
    let parsed = reqwest::Url::parse(base).map_err(|_| format!("{url:?} is no URL"))?;
    let host = parsed.host_str().unwrap_or_default();
    if !matches!(host, "127.0.0.1" | "localhost" | "[::1]") {
        return Ok(());
    }
    let client = reqwest::Client::builder()
        .timeout(WITHIN)
        .no_proxy()
        .build();
    let client = client.map_err(|error| error.to_string())?;
    let answer = client.get(format!("{base}/healthz")).send().await;
    match answer {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(format!("{base}/healthz says {}", answer.status())),
        Err(error) if error.is_connect() => Err(format!("{base} takes no connections")),
        Err(_) => Err(format!("whoever listens at {base} is no card processor")),
    }
}
