//! Expired keys go, in bounded batches.

use sqlx::PgPool;

use crate::Error;

/// Rows that one statement deletes: a bound on its locks and its time.
const BATCH: i64 = 1_000;

/// Deletes expired keys, all of them. Answers with their number. Correctness does not need it: an
/// expired key is taken over by whoever sends it again.
pub async fn purge(pool: &PgPool) -> Result<u64, Error> {
    let mut purged = 0;
    loop {
        // One that is being taken over at this moment is locked, and not ours to delete.
        let gone = sqlx::query(
            "DELETE FROM idempotency_keys
              WHERE (tenant, method, key) IN (
                    SELECT tenant, method, key FROM idempotency_keys
                     WHERE expires_at < now() ORDER BY expires_at LIMIT $1
                       FOR UPDATE SKIP LOCKED)",
        )
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
