//! For work that is decided in a later transaction than the one that admitted it.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// Locks the guards of one step, the forward's first, until the caller's transaction ends.
///
/// An undo takes the guards and then the aggregate. A transaction that decides an open command and
/// keeps its outcome must take them in the same order: call this before the aggregate is locked, or
/// the two can deadlock. Once it returns, no fresh undo of this step can come in between.
pub async fn lock_step(conn: &mut PgConnection, saga_id: Uuid, step: &str) -> Result<(), Error> {
    sqlx::query(
        "SELECT FROM command_guards WHERE saga_id = $1 AND step = $2
          ORDER BY direction DESC FOR UPDATE",
    )
    .bind(saga_id)
    .bind(step)
    .execute(conn)
    .await?;
    Ok(())
}
