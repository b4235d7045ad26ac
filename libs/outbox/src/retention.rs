//! Published events go after a while, in bounded batches.

use std::time::Duration;

use sqlx::{PgPool, Row as _};

use crate::Error;

/// Rows that one statement looks at: a bound on its locks and its time.
const BATCH: i64 = 1_000;

/// Deletes events older than `keep` that the broker has acknowledged. Answers with their number.
///
/// Walks up the row numbers from the oldest and stops at the first batch with a young event, so it
/// needs no index of its own and never looks at what it keeps.
pub async fn purge(pool: &PgPool, keep: Duration) -> Result<u64, Error> {
    let mut after = 0_i64;
    let mut purged = 0_u64;
    loop {
        let row = sqlx::query(
            "WITH batch AS (
                 SELECT id, created_at < now() - make_interval(secs => $2) AS old
                   FROM outbox_events WHERE id > $1 ORDER BY id LIMIT $3
             ), gone AS (
                 DELETE FROM outbox_events AS e USING batch
                  WHERE e.id = batch.id AND batch.old
                    AND NOT EXISTS (SELECT FROM outbox_pending AS p WHERE p.id = batch.id)
                 RETURNING 1
             )
             SELECT (SELECT count(*) FROM gone) AS gone, (SELECT max(id) FROM batch) AS last,
                    (SELECT bool_and(old) AND count(*) = $3 FROM batch) AS more",
        )
        .bind(after)
        .bind(keep.as_secs_f64())
        .bind(BATCH)
        .fetch_one(pool)
        .await?;
        purged += u64::try_from(row.try_get::<i64, _>("gone")?).unwrap_or_default();
        let last: Option<i64> = row.try_get("last")?;
        match last {
            Some(last) if row.try_get::<Option<bool>, _>("more")? == Some(true) => after = last,
            _ => return Ok(purged),
        }
    }
}
