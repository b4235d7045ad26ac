//! How long an open payment rests between two tries.

use std::time::Duration;

/// After the first try that told nothing: most processors are back at once.
const FIRST: Duration = Duration::from_millis(250);
/// A refusal is seldom taken back: it is tried on, but ever more rarely.
const REFUSED_MAX: Duration = Duration::from_hours(1);

/// After the n-th try without an answer (from 1); `cycle` at most.
pub fn after_silence(attempts: i32, cycle: Duration) -> Duration {
    doubled(FIRST.min(cycle), attempts).min(cycle)
}

/// After the n-th refusal (from 1); `cycle` at least.
pub fn after_refusal(refusals: i32, cycle: Duration) -> Duration {
    doubled(cycle, refusals).min(REFUSED_MAX.max(cycle))
}

fn doubled(first: Duration, count: i32) -> Duration {
    let exponent = u32::try_from(count.saturating_sub(1)).unwrap_or(0).min(20);
    first.saturating_mul(2_u32.saturating_pow(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLE: Duration = Duration::from_secs(30);

    #[test]
    fn silence_is_answered_by_ever_longer_pauses_up_to_a_cycle() {
        assert_eq!(after_silence(1, CYCLE), Duration::from_millis(250));
        assert_eq!(after_silence(2, CYCLE), Duration::from_millis(500));
        assert_eq!(after_silence(i32::MAX, CYCLE), CYCLE);
        assert_eq!(after_silence(0, CYCLE), Duration::from_millis(250));
        let short = Duration::from_millis(100);
        assert_eq!(after_silence(5, short), short);
    }

    #[test]
    fn refusals_are_tried_on_for_ever_but_rarely() {
        assert_eq!(after_refusal(1, CYCLE), CYCLE);
        assert_eq!(after_refusal(2, CYCLE), 2 * CYCLE);
        assert_eq!(after_refusal(1_000, CYCLE), REFUSED_MAX);
    }
}
