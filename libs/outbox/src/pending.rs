//! The relay's statements on `outbox_pending`. Each runs alone; none is open while the broker is asked.

use std::time::Duration;

use sqlx::{PgPool, Row as _};

use crate::{
    Error,
    row::{Aggregate, Row},
};

/// Rows of one blocked aggregate that one statement may hold: a bound on how long it takes.
const HOLD_MAX: i64 = 5_000;

/// The oldest sendable rows of `partitions`, with the nearest lower pending version of each.
///
/// The rows are only read: the lease is the claim. `previous` counts waiting, held and quarantined
/// rows alike, and is of the same snapshot, so what is not visible here was not committed; and a
/// version that is not committed has no committed successor.
pub(crate) async fn read(
    pool: &PgPool,
    partitions: &[i16],
    except: &[i64],
    limit: usize,
) -> Result<Vec<Row>, Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    // A backlog in all partitions is not read 32 times over to be thrown away.
    let partition_limit = (limit * 4 / i64::try_from(partitions.len()).unwrap_or(1).max(1)).max(16);
    let rows = sqlx::query_as(
        r#"SELECT p.id, p.partition, p.attempts,
                  p.aggregate_type, p.aggregate_id, p.aggregate_version,
                  (SELECT max(lower.aggregate_version) FROM outbox_pending AS lower
                    WHERE lower.aggregate_type = p.aggregate_type
                      AND lower.aggregate_id = p.aggregate_id
                      AND lower.aggregate_version < p.aggregate_version) AS previous,
                  e.event_id, e.topic, e.event_type, e.payload::text AS payload, e.headers,
                  to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
                      AS created_at
             FROM (SELECT ready.*
                     FROM unnest($1::smallint[]) AS mine (partition)
                    CROSS JOIN LATERAL (
                          SELECT * FROM outbox_pending AS q
                           WHERE q.partition = mine.partition
                             AND NOT q.held AND q.quarantined_at IS NULL
                             AND q.next_attempt_at <= now() AND q.id <> ALL ($2)
                           ORDER BY q.id LIMIT $3) AS ready
                    ORDER BY ready.id LIMIT $4) AS p
             JOIN outbox_events AS e ON e.id = p.id
            ORDER BY p.id"#,
    )
    .bind(partitions)
    .bind(except)
    .bind(partition_limit.min(limit))
    .bind(limit)
    .fetch_all(pool)
    .await?;
    Ok(rows)
}

/// Forgets acknowledged rows, whoever's they are now, and lets the next version of each go.
pub(crate) async fn mark_published(pool: &PgPool, ids: &[i64]) -> Result<(), Error> {
    sqlx::query(
        "WITH gone AS (
             DELETE FROM outbox_pending WHERE id = ANY ($1)
             RETURNING aggregate_type, aggregate_id, aggregate_version
         )
         UPDATE outbox_pending AS next SET held = false FROM gone
          WHERE next.aggregate_type = gone.aggregate_type
            AND next.aggregate_id = gone.aggregate_id
            AND next.aggregate_version = gone.aggregate_version + 1
            AND next.held AND next.id <> ALL ($1)", // not one that this statement deletes
    )
    .bind(ids)
    .execute(pool)
    .await?;
    Ok(())
}

/// What a failed try does to its row.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) id: i64,
    /// The lease under which it was tried: a relay that lost it has no say in attempts.
    pub(crate) epoch: i64,
    pub(crate) counted: bool,
    pub(crate) delay: Duration,
    pub(crate) error: String,
}

/// Lets failed rows wait, and quarantines those of which `attempts_max` tries were counted. Answers
/// with the rows that were quarantined.
pub(crate) async fn mark_failed(
    pool: &PgPool,
    owner: &str,
    attempts_max: u32,
    failures: &[Failure],
) -> Result<Vec<i64>, Error> {
    let rows = sqlx::query(
        "UPDATE outbox_pending AS p
            SET attempts = p.attempts + f.counted,
                next_attempt_at = now() + make_interval(secs => f.delay),
                last_error = f.error,
                quarantined_at = CASE WHEN p.attempts + f.counted >= $2 THEN now() END
           FROM unnest($3::bigint[], $4::bigint[], $5::int[], $6::float8[], $7::text[])
                    AS f (id, epoch, counted, delay, error),
                outbox_partitions AS lease
          WHERE p.id = f.id AND lease.partition = p.partition
            AND lease.owner = $1 AND lease.epoch = f.epoch
        RETURNING p.id, p.quarantined_at IS NOT NULL AS quarantined",
    )
    .bind(owner)
    .bind(i64::from(attempts_max))
    .bind(failures.iter().map(|f| f.id).collect::<Vec<_>>())
    .bind(failures.iter().map(|f| f.epoch).collect::<Vec<_>>())
    .bind(
        failures
            .iter()
            .map(|f| i32::from(f.counted))
            .collect::<Vec<_>>(),
    )
    .bind(
        failures
            .iter()
            .map(|f| f.delay.as_secs_f64())
            .collect::<Vec<_>>(),
    )
    .bind(
        failures
            .iter()
            .map(|f| f.error.as_str())
            .collect::<Vec<_>>(),
    )
    .fetch_all(pool)
    .await?;
    let mut quarantined = Vec::new();
    for row in rows {
        if row.try_get("quarantined")? {
            quarantined.push(row.try_get("id")?);
        }
    }
    Ok(quarantined)
}

/// Keeps the blocked rows of these aggregates out of the next reads: all but the lowest version.
pub(crate) async fn hold(pool: &PgPool, aggregates: &[Aggregate]) -> Result<(), Error> {
    sqlx::query(
        "UPDATE outbox_pending SET held = true
          WHERE id IN (
            SELECT blocked.id
              FROM unnest($1::text[], $2::text[]) AS a (kind, id)
             CROSS JOIN LATERAL (
                   SELECT q.id FROM outbox_pending AS q
                    WHERE q.aggregate_type = a.kind AND q.aggregate_id = a.id
                      AND NOT q.held AND q.quarantined_at IS NULL
                      AND q.aggregate_version > (
                          SELECT min(lowest.aggregate_version) FROM outbox_pending AS lowest
                           WHERE lowest.aggregate_type = a.kind AND lowest.aggregate_id = a.id)
                    LIMIT $3) AS blocked)",
    )
    .bind(
        aggregates
            .iter()
            .map(|a| a.kind.as_str())
            .collect::<Vec<_>>(),
    )
    .bind(aggregates.iter().map(|a| a.id.as_str()).collect::<Vec<_>>())
    .bind(HOLD_MAX)
    .execute(pool)
    .await?;
    Ok(())
}

/// Lets go of rows that are held although nothing precedes them: the late report of an old owner can
/// delete a row just before its successor is held. Steps from aggregate to aggregate, so that a long
/// backlog behind one event costs a single look.
pub(crate) async fn release_held(pool: &PgPool, partitions: &[i16]) -> Result<u64, Error> {
    let released = sqlx::query(
        "WITH RECURSIVE lowest AS (
             (SELECT id, aggregate_type, aggregate_id, aggregate_version FROM outbox_pending
               WHERE held ORDER BY aggregate_type, aggregate_id, aggregate_version LIMIT 1)
             UNION ALL
             SELECT next.* FROM lowest CROSS JOIN LATERAL (
                    SELECT p.id, p.aggregate_type, p.aggregate_id, p.aggregate_version
                      FROM outbox_pending AS p
                     WHERE p.held AND (p.aggregate_type, p.aggregate_id)
                                    > (lowest.aggregate_type, lowest.aggregate_id)
                     ORDER BY p.aggregate_type, p.aggregate_id, p.aggregate_version LIMIT 1) AS next
         )
         UPDATE outbox_pending AS p SET held = false FROM lowest
          WHERE p.id = lowest.id AND p.partition = ANY ($1) AND p.held
            AND NOT EXISTS (SELECT FROM outbox_pending AS lower
                             WHERE lower.aggregate_type = lowest.aggregate_type
                               AND lower.aggregate_id = lowest.aggregate_id
                               AND lower.aggregate_version < lowest.aggregate_version)",
    )
    .bind(partitions)
    .execute(pool)
    .await?
    .rows_affected();
    Ok(released)
}

/// How much is pending, counted up to a bound, and the age of the oldest.
pub(crate) async fn backlog(pool: &PgPool) -> Result<(i64, f64), Error> {
    let row = sqlx::query(
        "SELECT (SELECT count(*) FROM (SELECT FROM outbox_pending LIMIT 100000) AS counted) AS pending,
                coalesce((SELECT extract(epoch FROM now() - e.created_at)::float8
                            FROM outbox_pending AS p JOIN outbox_events AS e USING (id)
                           ORDER BY p.id LIMIT 1), 0) AS oldest_seconds",
    )
    .fetch_one(pool)
    .await?;
    Ok((row.try_get("pending")?, row.try_get("oldest_seconds")?))
}
