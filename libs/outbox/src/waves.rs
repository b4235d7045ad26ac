//! PURE. Of one aggregate, at most one event is unacknowledged, and version n is published before
//! n+1: the only place that decides what may be sent next.
//!
//! Each aggregate has a line. Its first event is under way; the others wait for that one's report.
//! Lines do not wait for each other, so a wave of one aggregate overlaps with those of all others.

use std::collections::{HashMap, VecDeque};

use crate::row::{Aggregate, Row};

/// One aggregate with a long backlog must not fill the relay's memory: what is beyond waits as
/// `held` rows in the table.
const LINE_MAX: usize = 32;

/// What became of a row that was read.
#[derive(Debug)]
pub(crate) enum Placed {
    /// Nothing precedes it: send it now.
    Send(Row),
    /// It waits here for the report of the event before it.
    Waits,
    /// An event that is not here precedes it: it must not be sent, and is kept in the table.
    Blocked(Aggregate),
}

/// The events in the relay's hands.
#[derive(Debug, Default)]
pub(crate) struct Waves {
    lines: HashMap<Aggregate, Line>,
    rows: usize,
}

#[derive(Debug)]
struct Line {
    partition: i16,
    under_way: i64,
    last_version: i64,
    waiting: VecDeque<Row>,
}

impl Waves {
    /// Takes a row that was read. Offer the rows of one read in any order of aggregates, but each
    /// aggregate's by rising version.
    pub(crate) fn offer(&mut self, row: Row) -> Placed {
        let aggregate = row.aggregate();
        let Some(line) = self.lines.get_mut(&aggregate) else {
            if row.previous.is_some() {
                return Placed::Blocked(aggregate);
            }
            let line = Line {
                partition: row.partition,
                under_way: row.id,
                last_version: row.aggregate_version,
                waiting: VecDeque::new(),
            };
            self.lines.insert(aggregate, line);
            self.rows += 1;
            return Placed::Send(row);
        };
        // Everything that precedes it must be in this line: the nearest lower pending version is
        // the line's last, or one that the line is past.
        let follows = row.aggregate_version > line.last_version
            && row
                .previous
                .is_none_or(|previous| previous <= line.last_version);
        if !follows || line.waiting.len() >= LINE_MAX {
            return Placed::Blocked(aggregate);
        }
        line.last_version = row.aggregate_version;
        line.waiting.push_back(row);
        self.rows += 1;
        Placed::Waits
    }

    /// The aggregate's event was acknowledged: the next one, which may be sent now.
    pub(crate) fn acknowledged(&mut self, aggregate: &Aggregate) -> Option<Row> {
        self.rows = self.rows.saturating_sub(1);
        let line = self.lines.get_mut(aggregate)?;
        if let Some(next) = line.waiting.pop_front() {
            line.under_way = next.id;
            Some(next)
        } else {
            self.lines.remove(aggregate);
            None
        }
    }

    /// The aggregate's event was not acknowledged, or not sent: nothing after it may be sent. What
    /// waited here is read again.
    pub(crate) fn forget(&mut self, aggregate: &Aggregate) {
        if let Some(line) = self.lines.remove(aggregate) {
            self.rows = self.rows.saturating_sub(1 + line.waiting.len());
        }
    }

    /// Forgets what waits in partitions that `keep` refuses; what is under way gets its report.
    pub(crate) fn retain_partitions(&mut self, keep: impl Fn(i16) -> bool) {
        for line in self.lines.values_mut().filter(|line| !keep(line.partition)) {
            self.rows = self.rows.saturating_sub(line.waiting.len());
            line.waiting.clear();
        }
    }

    /// Whether an event of this partition is here.
    pub(crate) fn touches(&self, partition: i16) -> bool {
        self.lines.values().any(|line| line.partition == partition)
    }

    /// The rows that are here: not to be read again.
    pub(crate) fn ids(&self) -> impl Iterator<Item = i64> + '_ {
        self.lines.values().flat_map(|line| {
            std::iter::once(line.under_way).chain(line.waiting.iter().map(|r| r.id))
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;
    use sqlx::types::Json;
    use uuid::Uuid;

    use super::*;

    fn row(aggregate: &str, version: i64, previous: Option<i64>) -> Row {
        Row {
            id: version,
            partition: 0,
            attempts: 0,
            aggregate_type: "order".to_owned(),
            aggregate_id: aggregate.to_owned(),
            aggregate_version: version,
            previous,
            event_id: Uuid::nil(),
            topic: String::new(),
            event_type: String::new(),
            payload: String::new(),
            headers: Json(BTreeMap::new()),
            created_at: String::new(),
        }
    }

    #[test]
    fn a_row_behind_one_that_is_not_here_is_blocked() {
        let mut waves = Waves::default();
        assert!(matches!(
            waves.offer(row("A", 3, Some(2))),
            Placed::Blocked(_)
        ));
        assert!(matches!(waves.offer(row("A", 2, None)), Placed::Send(_)));
        // Version 3 is pending elsewhere; 4 must not overtake it.
        assert!(matches!(
            waves.offer(row("A", 5, Some(4))),
            Placed::Blocked(_)
        ));
        assert!(matches!(waves.offer(row("A", 3, Some(2))), Placed::Waits));
    }

    #[test]
    fn a_failure_takes_everything_behind_it_away() {
        let mut waves = Waves::default();
        assert!(matches!(waves.offer(row("A", 1, None)), Placed::Send(_)));
        assert!(matches!(waves.offer(row("A", 2, Some(1))), Placed::Waits));
        waves.forget(&row("A", 1, None).aggregate());
        assert_eq!((waves.len(), waves.ids().count()), (0, 0));
        assert!(matches!(
            waves.offer(row("A", 2, Some(1))),
            Placed::Blocked(_)
        ));
    }

    #[derive(Debug, Clone)]
    enum Step {
        /// The next version of an aggregate is committed.
        Commit(usize),
        /// A read that finds these rows of the pending ones, as backoff and limit will have it.
        Read(u64),
        /// A report on an aggregate's record.
        Report(usize, bool),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..3_usize).prop_map(Step::Commit),
            any::<u64>().prop_map(Step::Read),
            (0..3_usize, prop::bool::weighted(0.7)).prop_map(|(a, ok)| Step::Report(a, ok)),
        ]
    }

    /// The table and the broker as sets, and the waves between them.
    #[derive(Default)]
    struct World {
        committed: [i64; 3],
        pending: [BTreeSet<i64>; 3],
        under_way: [Option<i64>; 3],
        published: [i64; 3],
        waves: Waves,
    }

    impl World {
        fn send(&mut self, a: usize, row: &Row) {
            assert_eq!(
                self.under_way[a], None,
                "one unacknowledged event of an aggregate"
            );
            let version = row.aggregate_version;
            assert!(
                version <= self.published[a] + 1,
                "{version} overtakes {}",
                self.published[a]
            );
            self.under_way[a] = Some(version);
        }

        fn read(&mut self, found: u64) {
            let here: BTreeSet<i64> = self.waves.ids().collect();
            for a in 0..3 {
                for version in self.pending[a].clone() {
                    // Row numbers of the three aggregates must differ.
                    let id = version * 3 + i64::try_from(a).unwrap();
                    if here.contains(&id) || found >> (id % 64) & 1 == 0 {
                        continue;
                    }
                    let previous = self.pending[a].range(..version).next_back().copied();
                    let mut row = row(&a.to_string(), version, previous);
                    row.id = id;
                    if let Placed::Send(row) = self.waves.offer(row) {
                        self.send(a, &row);
                    }
                }
            }
        }

        fn report(&mut self, a: usize, acknowledged: bool) {
            let Some(version) = self.under_way[a].take() else {
                return;
            };
            let aggregate = row(&a.to_string(), version, None).aggregate();
            if !acknowledged {
                self.waves.forget(&aggregate);
                return;
            }
            self.published[a] = self.published[a].max(version);
            self.pending[a].remove(&version); // the mark
            if let Some(next) = self.waves.acknowledged(&aggregate) {
                self.send(a, &next);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn no_interleaving_sends_two_at_once_or_one_before_its_predecessor(
            steps in prop::collection::vec(step(), 1..120)
        ) {
            let mut world = World::default();
            for step in steps {
                match step {
                    Step::Commit(a) => {
                        world.committed[a] += 1;
                        let version = world.committed[a];
                        world.pending[a].insert(version);
                    }
                    Step::Read(found) => world.read(found),
                    Step::Report(a, acknowledged) => world.report(a, acknowledged),
                }
                let in_hand = world.waves.ids().count();
                prop_assert_eq!(world.waves.len(), in_hand);
            }
            // Once nothing fails any more, everything goes out.
            while world.pending.iter().any(|pending| !pending.is_empty()) {
                world.read(u64::MAX);
                for a in 0..3 {
                    world.report(a, true);
                }
            }
            prop_assert_eq!(world.published, world.committed);
        }
    }
}
