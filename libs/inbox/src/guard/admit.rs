//! May this forward command act? Written so that a rival's commit is always seen.

use serde_json::Value;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::{KeptOutcome, outcome};
use crate::Error;

/// Whether a command does its step or undoes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It does the step.
    Forward,
    /// It undoes the step.
    Backward,
}

impl Direction {
    /// As it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "FORWARD",
            Self::Backward => "BACKWARD",
        }
    }
}

/// Which command of which saga, and from whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandKey {
    /// The saga that sends it.
    pub saga_id: Uuid,
    /// The step's name.
    pub step: String,
    /// The idempotency key down the line; the same for every repetition.
    pub command_id: String,
    /// How often the saga was taken over, as the sender knows.
    pub epoch: i64,
}

/// What [`admit_forward`] found.
#[derive(Debug, Clone, PartialEq)]
pub enum Admission {
    /// The guard is yours in this transaction: act, and keep the outcome when there is one.
    Fresh,
    /// Taken before, not decided yet: wake the work that is open.
    Open,
    /// Decided before: answer with this and evaluate nothing.
    Decided(KeptOutcome),
    /// Its undo came first, or since: do nothing, ever.
    Undone,
    /// The sender lost the saga to one with this epoch: do nothing.
    StaleEpoch {
        /// The highest epoch seen of this saga.
        highest: i64,
    },
}

/// Inserts the guard of a forward command in the caller's transaction, which must be READ COMMITTED.
///
/// The insert waits while a rival holds the key. A statement that waited cannot see what the rival
/// committed, so zero rows from it prove nothing: the verdict comes from a *second* statement.
pub async fn admit_forward(
    conn: &mut PgConnection,
    command: &CommandKey,
) -> Result<Admission, Error> {
    if insert(conn, command, Direction::Forward, false).await? {
        return Ok(Admission::Fresh);
    }
    let found = second_look(conn, command, Direction::Forward).await?;
    Ok(match found {
        Found::Stale { highest } => Admission::StaleEpoch { highest },
        Found::Row { undone: true, .. } => Admission::Undone,
        Found::Row {
            outcome: Some(outcome),
            ..
        } => Admission::Decided(outcome),
        Found::Row { .. } => Admission::Open,
    })
}

/// First statement: the key, unless it is taken or the epoch is stale. True if the row was written.
pub(super) async fn insert(
    conn: &mut PgConnection,
    command: &CommandKey,
    direction: Direction,
    undone: bool,
) -> Result<bool, Error> {
    let inserted = sqlx::query(
        "INSERT INTO command_guards (saga_id, step, direction, command_id, epoch, undone)
         SELECT $1, $2, $3, $4, $5, $6
          WHERE NOT EXISTS (SELECT FROM command_guards WHERE saga_id = $1 AND epoch > $5)
         ON CONFLICT DO NOTHING",
    )
    .bind(command.saga_id)
    .bind(&command.step)
    .bind(direction.as_str())
    .bind(&command.command_id)
    .bind(command.epoch)
    .bind(undone)
    .execute(conn)
    .await?
    .rows_affected();
    Ok(inserted == 1)
}

pub(super) enum Found {
    Stale {
        highest: i64,
    },
    Row {
        undone: bool,
        outcome: Option<KeptOutcome>,
    },
}

/// Second statement: what stopped the insert. Its snapshot is taken after any wait, so it sees the
/// winner. A repetition with a higher epoch raises the row's.
pub(super) async fn second_look(
    conn: &mut PgConnection,
    command: &CommandKey,
    direction: Direction,
) -> Result<Found, Error> {
    let row = sqlx::query(
        "WITH raised AS (
             UPDATE command_guards SET epoch = $4
              WHERE saga_id = $1 AND step = $2 AND direction = $3 AND epoch < $4
                AND NOT EXISTS (SELECT FROM command_guards WHERE saga_id = $1 AND epoch > $4)
         )
         SELECT (SELECT max(epoch) FROM command_guards WHERE saga_id = $1) AS highest,
                own.saga_id IS NOT NULL AS found, own.undone, own.outcome
           FROM (VALUES (1)) AS one
           LEFT JOIN command_guards AS own
             ON own.saga_id = $1 AND own.step = $2 AND own.direction = $3",
    )
    .bind(command.saga_id)
    .bind(&command.step)
    .bind(direction.as_str())
    .bind(command.epoch)
    .fetch_one(conn)
    .await?;
    let highest = row
        .try_get::<Option<i64>, _>("highest")?
        .unwrap_or(command.epoch);
    if highest > command.epoch {
        return Ok(Found::Stale { highest });
    }
    if !row.try_get::<bool, _>("found")? {
        return Err(Error::GuardVanished {
            command_id: command.command_id.clone(),
        });
    }
    let outcome = row
        .try_get::<Option<Value>, _>("outcome")?
        .map(|kept| outcome::parse(kept, &command.command_id))
        .transpose()?;
    Ok(Found::Row {
        undone: row.try_get("undone")?,
        outcome,
    })
}
