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
