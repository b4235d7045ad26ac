use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Between two looks: fast at first, because most conditions hold within milliseconds.
const PAUSE_MIN: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// Asks `probe` until it answers `Some`, and returns that; panics with `what` after `within`.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use std::time::Duration;
/// let mut looks = 0;
/// let answer = tercet_testbed::eventually("the third look", Duration::from_secs(1), async || {
///     looks += 1;
///     (looks == 3).then_some("seen")
/// })
/// .await;
/// assert_eq!(answer, "seen");
/// # });
/// ```
pub async fn eventually<T, F>(what: &str, within: Duration, mut probe: F) -> T
where
    F: AsyncFnMut() -> Option<T>,
{
    let deadline = Instant::now() + within;
    let mut pause = PAUSE_MIN;
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        let now = Instant::now();
        assert!(now < deadline, "not seen within {within:?}: {what}");
        sleep(pause.min(deadline - now)).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
