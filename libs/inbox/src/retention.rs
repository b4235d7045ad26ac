//! Old inbox rows go, in bounded batches.

use std::time::Duration;

use sqlx::PgPool;

use crate::Error;

/// Rows that one statement deletes: a bound on its locks and its time.
const BATCH: i64 = 5_000;

/// Deletes inbox rows older than `keep`. Answers with their number.
///
/// A message whose row is gone takes effect again if it still comes: keep rows for longer than the
/// topics keep messages, and longer than the oldest dead letter that is still sent anew.
pub async fn purge(pool: &PgPool, keep: Duration) -> Result<u64, Error> {
    let mut purged = 0;
    loop {
        let gone = sqlx::query(
            "DELETE FROM inbox_messages WHERE ctid = ANY (ARRAY(
                 SELECT ctid FROM inbox_messages
                  WHERE received_at < now() - make_interval(secs => $1) LIMIT $2))",
        )
        .bind(keep.as_secs_f64())
        .bind(BATCH)
        .execute(pool)
        .await?
        .rows_affected();
        purged += gone;
        if gone < BATCH.unsigned_abs() {
            return Ok(purged);
        }
    }
}
