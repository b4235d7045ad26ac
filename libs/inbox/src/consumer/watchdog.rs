//! PURE. Messages that are there and do not come: the client has stalled, whatever it says.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use super::assignment::TopicPartition;

/// What is known of a partition: up to where it was read, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Observed {
    pub(crate) read_to: i64,
    pub(crate) end: i64,
}

/// Remembers since when each partition has not moved.
#[derive(Debug, Default)]
pub(crate) struct Watchdog {
    since: HashMap<TopicPartition, (i64, Instant)>,
}

impl Watchdog {
    /// Whether a partition has had messages to read and not moved for `stalled_after`. Partitions
    /// that are not observed (paused, revoked) are forgotten.
    pub(crate) fn stalled(
        &mut self,
        now: Instant,
        stalled_after: Duration,
        observed: &HashMap<TopicPartition, Observed>,
    ) -> Option<TopicPartition> {
        self.since.retain(|partition, (read_to, _)| {
            observed
                .get(partition)
                .is_some_and(|seen| seen.read_to == *read_to && seen.end > *read_to)
        });
        for (partition, seen) in observed.iter().filter(|(_, seen)| seen.end > seen.read_to) {
            let (_, since) = self
                .since
                .entry(partition.clone())
                .or_insert((seen.read_to, now));
            if now.saturating_duration_since(*since) >= stalled_after {
                return Some(partition.clone());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn seen(read_to: i64, end: i64) -> HashMap<TopicPartition, Observed> {
        HashMap::from([(("t".to_owned(), 0), Observed { read_to, end })])
    }

    #[test]
    fn messages_that_do_not_come_for_a_minute_are_a_stall() {
        let (mut dog, start) = (Watchdog::default(), Instant::now());
        assert_eq!(dog.stalled(start, MINUTE, &seen(5, 9)), None);
        assert_eq!(dog.stalled(start + MINUTE / 2, MINUTE, &seen(5, 20)), None);
        assert_eq!(
            dog.stalled(start + MINUTE, MINUTE, &seen(5, 30)),
            Some(("t".to_owned(), 0))
        );
    }

    #[test]
    fn progress_catching_up_and_a_pause_start_the_minute_anew() {
        let (mut dog, start) = (Watchdog::default(), Instant::now());
        for between in [seen(6, 9), seen(5, 5), HashMap::new()] {
            dog.stalled(start, MINUTE, &seen(5, 9));
            dog.stalled(start + MINUTE / 2, MINUTE, &between);
            assert_eq!(dog.stalled(start + MINUTE, MINUTE, &seen(5, 9)), None);
        }
    }
}
