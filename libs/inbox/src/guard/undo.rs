//! May this undo act, and on what? Three statements of one transaction, never split.

use sqlx::PgConnection;

use super::{
    CommandKey, Direction, KeptOutcome,
    admit::{Found, insert, second_look},
};
use crate::Error;

/// What [`admit_backward`] found.
#[derive(Debug, Clone, PartialEq)]
pub enum BackwardAdmission {
    /// The guard is yours in this transaction: undo, and keep the outcome when there is one.
    Fresh {
        /// False: the forward command never ran and now never will. Write the aggregate as a
        /// tombstone, and an outcome that says nothing changed. True: it ran, or is running in
        /// another process; lock the aggregate and act on its state.
        forward_ran: bool,
    },
    /// Taken before, not decided yet: wake the work that is open.
    Open,
    /// Decided before: answer with this and evaluate nothing.
    Decided(KeptOutcome),
    /// The sender lost the saga to one with this epoch: do nothing.
    StaleEpoch {
        /// The highest epoch seen of this saga.
        highest: i64,
    },
}

/// Closes the door on the forward command, then takes the undo's own key, in the caller's
/// transaction, which must be READ COMMITTED.
///
/// 1. Insert the *forward's* key, marked `undone`. Won: the forward never ran. Lost: the insert has
///    waited for the forward's transaction, so mark the row it committed; a forward that finds
///    `undone`, whenever it comes, does nothing.
/// 2. Insert the undo's own key. Lost: a second statement tells what became of the first undo.
/// 3. The caller acts.
///
/// Roll back on [`BackwardAdmission::StaleEpoch`]: the door may be closed already, without its undo.
pub async fn admit_backward(
    conn: &mut PgConnection,
    command: &CommandKey,
) -> Result<BackwardAdmission, Error> {
    let forward_ran = !insert(conn, command, Direction::Forward, true).await?;
    if forward_ran {
        if let Some(highest) = higher_epoch(conn, command).await? {
            return Ok(BackwardAdmission::StaleEpoch { highest });
        }
        mark_undone(conn, command).await?;
    }
    if insert(conn, command, Direction::Backward, false).await? {
        return Ok(BackwardAdmission::Fresh { forward_ran });
    }
    let found = second_look(conn, command, Direction::Backward).await?;
    Ok(match found {
        Found::Stale { highest } => BackwardAdmission::StaleEpoch { highest },
        Found::Row {
            outcome: Some(outcome),
            ..
        } => BackwardAdmission::Decided(outcome),
        Found::Row { .. } => BackwardAdmission::Open,
    })
}

/// The insert writes nothing for a stale epoch either; tell the two apart before anything is marked.
async fn higher_epoch(conn: &mut PgConnection, command: &CommandKey) -> Result<Option<i64>, Error> {
    let highest: Option<i64> = sqlx::query_scalar(
        "SELECT max(epoch) FROM command_guards WHERE saga_id = $1 AND epoch > $2",
    )
    .bind(command.saga_id)
    .bind(command.epoch)
    .fetch_one(conn)
    .await?;
    Ok(highest)
}

/// Waits for whoever has the forward's row locked, for example to keep its outcome.
async fn mark_undone(conn: &mut PgConnection, command: &CommandKey) -> Result<(), Error> {
    sqlx::query(
        "UPDATE command_guards SET undone = true
          WHERE saga_id = $1 AND step = $2 AND direction = 'FORWARD' AND NOT undone",
    )
    .bind(command.saga_id)
    .bind(&command.step)
    .execute(conn)
    .await?;
    Ok(())
}
