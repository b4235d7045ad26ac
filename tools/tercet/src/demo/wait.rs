//! Bounded waits for something that will be so.

use std::time::Duration;

use anyhow::bail;
use tokio::time::{Instant, sleep};

const PAUSE: Duration = Duration::from_millis(15);

/// Asks `probe` until it finds something; an error after `within`.
pub(super) async fn until<T>(
    what: &str,
    within: Duration,
    mut probe: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let deadline = Instant::now() + within;
    loop {
        if let Some(found) = probe().await? {
            return Ok(found);
        }
        if Instant::now() >= deadline {
            bail!("not seen within {} s: {what}", within.as_secs());
        }
        sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_never_comes_is_named() {
        let waited = until::<()>("the end", Duration::ZERO, async || Ok(None)).await;
        assert_eq!(
            waited.unwrap_err().to_string(),
            "not seen within 0 s: the end"
        );
    }
}
