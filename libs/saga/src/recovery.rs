//! Which sagas an engine should take over: the net under the timers. Pure.
//!
//! | who              | does what                                                   |
//! |------------------|-------------------------------------------------------------|
//! | the store        | reads candidate rows, a page at a time                      |
//! | [`plan`]         | decides, row by row                                         |
//! | the engine       | obeys: lock, decide again, lease, raise the epoch, ask again |
//!
//! A saga that waits for a timer in the future is not idle. One whose timer is long overdue, or that
//! has none, was lost by whoever should have fired it.

use std::time::Duration;

use time::OffsetDateTime;
use uuid::Uuid;

use crate::{definition::DefinitionId, instance::Status, retry::later};

/// What must be known of a row to decide about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The saga.
    pub saga_id: Uuid,
    /// The definition the row was begun by.
    pub definition: DefinitionId,
    /// Where it stands.
    pub status: Status,
    /// When its timer fires.
    pub next_action_at: Option<OffsetDateTime>,
    /// Until when another engine is resuming it.
    pub lease_until: Option<OffsetDateTime>,
}

/// Why a saga is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// There is nothing left to do.
    Ended,
    /// Its timer is in the future, or has only just come.
    WaitsForItsTimer,
    /// Another engine is resuming it.
    Leased,
    /// It was begun by steps that this program does not have.
    UnknownDefinition,
}

/// Whether this engine takes the saga over. `Err` says why not.
pub fn decide(
    row: &Candidate,
    runnable: &DefinitionId,
    now: OffsetDateTime,
    overdue_after: Duration,
) -> Result<(), Leave> {
    if !row.status.is_live() {
        return Err(Leave::Ended);
    }
    if row
        .next_action_at
        .is_some_and(|at| later(at, overdue_after) > now)
    {
        return Err(Leave::WaitsForItsTimer);
    }
    if row.lease_until.is_some_and(|until| until > now) {
        return Err(Leave::Leased);
    }
    if row.definition != *runnable {
        return Err(Leave::UnknownDefinition);
    }
    Ok(())
}

/// Decisions about one page of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// To be taken over.
    pub resume: Vec<Uuid>,
    /// To be left alone, and why.
    pub leave: Vec<(Uuid, Leave)>,
}

/// Decides about a page of rows, each by itself.
pub fn plan(
    rows: &[Candidate],
    runnable: &DefinitionId,
    now: OffsetDateTime,
    overdue_after: Duration,
) -> Plan {
    let mut plan = Plan::default();
    for row in rows {
        match decide(row, runnable, now, overdue_after) {
            Ok(()) => plan.resume.push(row.saga_id),
            Err(why) => plan.leave.push((row.saga_id, why)),
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
    const OVERDUE: Duration = Duration::from_mins(5);

    fn definition(version: u32) -> DefinitionId {
        DefinitionId {
            kind: "place-order".to_owned(),
            version,
            hash: "abc".to_owned(),
        }
    }

    fn row(next_action_at: Option<i64>) -> Candidate {
        Candidate {
            saga_id: Uuid::nil(),
            definition: definition(1),
            status: Status::Running,
            next_action_at: next_action_at.map(|seconds| NOW + time::Duration::seconds(seconds)),
            lease_until: None,
        }
    }

    fn decision(row: &Candidate) -> Result<(), Leave> {
        decide(row, &definition(1), NOW, OVERDUE)
    }

    #[test]
    fn a_saga_is_idle_without_a_timer_or_when_it_is_long_overdue() {
        assert_eq!(decision(&row(None)), Ok(()));
        assert_eq!(decision(&row(Some(-300))), Ok(()));
        assert_eq!(decision(&row(Some(-299))), Err(Leave::WaitsForItsTimer));
        assert_eq!(decision(&row(Some(3600))), Err(Leave::WaitsForItsTimer));
    }

    #[test]
    fn leased_ended_and_unknown_sagas_are_left_alone_and_block_nobody() {
        let mut leased = row(None);
        leased.lease_until = Some(NOW + time::Duration::SECOND);
        let mut lapsed = row(None);
        lapsed.lease_until = Some(NOW);
        let mut ended = row(None);
        ended.status = Status::Completed;
        let mut unknown = row(None);
        unknown.definition = definition(2);
        let rows = [leased, ended, unknown, lapsed];
        let plan = plan(&rows, &definition(1), NOW, OVERDUE);
        assert_eq!(plan.resume.len(), 1);
        let reasons: Vec<_> = plan.leave.iter().map(|(_, why)| *why).collect();
        assert_eq!(
            reasons,
            [Leave::Leased, Leave::Ended, Leave::UnknownDefinition]
        );
    }
}
