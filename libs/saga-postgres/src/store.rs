//! The statements. Each takes a connection: the caller owns the transaction.

use serde::Serialize;
use sqlx::{AssertSqlSafe, PgConnection, Row as _, postgres::PgRow, types::Json};
use tercet_saga::{DefinitionId, Instance, LogEntry, recovery::Candidate};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    error::Error,
    participants::SagaRef,
    row::{self, COLUMNS},
};

/// Whether to wait for whoever has the saga's row.
#[derive(Clone, Copy)]
pub(crate) enum Rival {
    /// Wait, then see what it committed.
    Wait,
    /// Leave the saga to it.
    Skip,
}

/// The saga's row, locked until the caller's transaction ends. The lock is taken before anything
/// else of the saga's subject: sagas by id, then their subjects.
pub(crate) async fn lock(
    conn: &mut PgConnection,
    saga_id: Uuid,
    rival: Rival,
) -> Result<Option<PgRow>, Error> {
    let skip = match rival {
        Rival::Wait => "",
        Rival::Skip => "SKIP LOCKED",
    };
    let sql = format!("SELECT {COLUMNS} FROM sagas WHERE id = $1 FOR UPDATE {skip}");
    Ok(sqlx::query(AssertSqlSafe(sql))
        .bind(saga_id)
        .fetch_optional(conn)
        .await?)
}

/// Inserts a saga that was started at the Unix epoch: all its times are that far from *now*, by the
/// database's clock, which costs no question first.
pub(crate) async fn insert<D: Serialize>(
    conn: &mut PgConnection,
    saga: &SagaRef,
    definition: &DefinitionId,
    instance: &Instance<D>,
    log: &[LogEntry],
) -> Result<(), Error> {
    let entries = Columns::of(log);
    let next = instance.next_action_at;
    sqlx::query(
        "WITH saga AS (
             INSERT INTO sagas (id, kind, subject_id, definition_version, definition_hash, status,
                 step, direction, command_id, wait, attempt, asks, epoch, version, data, learned,
                 traceparent, started_at, step_since, next_action_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0, $11, $12, $13, $14, $15,
                 now(), now(), now() + make_interval(secs => $16), now())
             RETURNING id
         )
         INSERT INTO saga_log (saga_id, entry, step, direction, command_id, detail)
         SELECT saga.id, l.entry, l.step, l.direction, l.command_id, l.detail
           FROM saga, unnest($17::text[], $18::text[], $19::text[], $20::text[], $21::text[])
                WITH ORDINALITY AS l(entry, step, direction, command_id, detail, place)
          ORDER BY l.place",
    )
    .bind(saga.saga_id)
    .bind(&definition.kind)
    .bind(saga.subject_id)
    .bind(as_i32(definition.version))
    .bind(&definition.hash)
    .bind(instance.status.as_str())
    .bind(&instance.step)
    .bind(instance.direction.as_str())
    .bind(&instance.command_id)
    .bind(instance.wait.as_str())
    .bind(instance.epoch)
    .bind(instance.version)
    .bind(Json(&instance.data))
    .bind(instance.learned.as_ref().map(Json))
    .bind(&saga.traceparent)
    .bind(next.map(|at| (at - OffsetDateTime::UNIX_EPOCH).as_seconds_f64()))
    .bind(entries.entry)
    .bind(entries.step)
    .bind(entries.direction)
    .bind(entries.command_id)
    .bind(entries.detail)
    .execute(conn)
    .await
    .map_err(|error| match &error {
        sqlx::Error::Database(e) if e.constraint() == Some("sagas_one_live_a_subject") => {
            Error::SubjectBusy {
                subject_id: saga.subject_id,
            }
        }
        _ => Error::Database(error),
    })?;
    Ok(())
}

/// A claim on a saga that was taken over, saved with it.
pub(crate) struct Lease<'a> {
    pub(crate) owner: &'a str,
    pub(crate) seconds: f64,
}

/// Saves a changed saga and its timeline, if it still is at version `before`.
///
/// The row is locked already; the compare-and-set is the fence for whoever prepared a save without
/// the lock, for example before its process was stopped.
pub(crate) async fn save<D: Serialize>(
    conn: &mut PgConnection,
    before: i64,
    instance: &Instance<D>,
    log: &[LogEntry],
    lease: Option<Lease<'_>>,
) -> Result<(), Error> {
    let entries = Columns::of(log);
    let saved: i64 = sqlx::query_scalar(
        "WITH saga AS (
             UPDATE sagas SET status = $3, stuck_reason = $4, step = $5, direction = $6,
                 command_id = $7, wait = $8, waiting_reason = $9, attempt = $10, asks = $11,
                 epoch = $12, version = $13, learned = $14, failure = $15, step_since = $16,
                 next_action_at = $17, updated_at = clock_timestamp(),
                 lease_owner = coalesce($18, lease_owner),
                 lease_until = coalesce(clock_timestamp() + make_interval(secs => $19), lease_until)
              WHERE id = $1 AND version = $2
             RETURNING id
         ), logged AS (
             INSERT INTO saga_log (saga_id, entry, step, direction, command_id, detail)
             SELECT saga.id, l.entry, l.step, l.direction, l.command_id, l.detail
               FROM saga, unnest($20::text[], $21::text[], $22::text[], $23::text[], $24::text[])
                    WITH ORDINALITY AS l(entry, step, direction, command_id, detail, place)
              ORDER BY l.place
         )
         SELECT count(*) FROM saga",
    )
    .bind(instance.saga_id)
    .bind(before)
    .bind(instance.status.as_str())
    .bind(&instance.stuck_reason)
    .bind(&instance.step)
    .bind(instance.direction.as_str())
    .bind(&instance.command_id)
    .bind(instance.wait.as_str())
    .bind(&instance.waiting_reason)
    .bind(as_i32(instance.attempt))
    .bind(as_i32(instance.asks))
    .bind(instance.epoch)
    .bind(instance.version)
    .bind(instance.learned.as_ref().map(Json))
    .bind(instance.failure.as_ref().map(Json))
    .bind(instance.step_since)
    .bind(instance.next_action_at)
    .bind(lease.as_ref().map(|lease| lease.owner))
    .bind(lease.as_ref().map(|lease| lease.seconds))
    .bind(entries.entry)
    .bind(entries.step)
    .bind(entries.direction)
    .bind(entries.command_id)
    .bind(entries.detail)
    .fetch_one(conn)
    .await?;
    if saved == 1 {
        Ok(())
    } else {
        Err(Error::VersionConflict {
            saga_id: instance.saga_id,
            version: before,
        })
    }
}

/// Where a look at due timers stands: `until` is when it began, so that it ends, and `last` what it
/// read, so that it goes past sagas that stay due.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    until: OffsetDateTime,
    last: (OffsetDateTime, Uuid),
}

/// A page of sagas whose timer has come, the longest overdue first, and where to go on.
pub(crate) async fn due(
    conn: &mut PgConnection,
    definition: &DefinitionId,
    look: Option<Look>,
    limit: i64,
) -> Result<(Vec<Uuid>, Option<Look>), Error> {
    let rows: Vec<(Uuid, OffsetDateTime, OffsetDateTime)> = sqlx::query_as(
        "SELECT id, next_action_at, coalesce($4, clock_timestamp()) FROM sagas
          WHERE status IN ('RUNNING', 'COMPENSATING')
            AND next_action_at <= coalesce($4, clock_timestamp())
            AND ($5::timestamptz IS NULL OR (next_action_at, id) > ($5, $6::uuid))
            AND kind = $1 AND definition_version = $2 AND definition_hash = $3
          ORDER BY next_action_at, id LIMIT $7",
    )
    .bind(&definition.kind)
    .bind(as_i32(definition.version))
    .bind(&definition.hash)
    .bind(look.map(|look| look.until))
    .bind(look.map(|look| look.last.0))
    .bind(look.map(|look| look.last.1))
    .bind(limit)
    .fetch_all(conn)
    .await?;
    let next = rows.last().map(|&(id, at, until)| Look {
        until,
        last: (at, id),
    });
    Ok((rows.into_iter().map(|(id, ..)| id).collect(), next))
}

/// A page of live sagas whose timer is missing or overdue, whoever may run them.
pub(crate) async fn idle(
    conn: &mut PgConnection,
    kind: &str,
    overdue_seconds: f64,
    after: Uuid,
    limit: i64,
) -> Result<Vec<Result<(Candidate, OffsetDateTime), Error>>, Error> {
    let rows = sqlx::query(
        "SELECT id, kind, definition_version, definition_hash, status, next_action_at, lease_until,
                clock_timestamp() AS read_at
           FROM sagas
          WHERE status IN ('RUNNING', 'COMPENSATING') AND kind = $1 AND id > $2
            AND (next_action_at IS NULL
                 OR next_action_at <= clock_timestamp() - make_interval(secs => $3))
          ORDER BY id LIMIT $4",
    )
    .bind(kind)
    .bind(after)
    .bind(overdue_seconds)
    .bind(limit)
    .fetch_all(conn)
    .await?;
    Ok(rows.iter().map(candidate).collect())
}

fn candidate(row: &PgRow) -> Result<(Candidate, OffsetDateTime), Error> {
    let status: String = row.try_get("status")?;
    let saga_id = row.try_get("id")?;
    let candidate = Candidate {
        saga_id,
        definition: row::definition(row)?,
        status: status.parse().map_err(|source| Error::Corrupt {
            saga_id,
            column: "status",
            source: Box::new(source),
        })?,
        next_action_at: row.try_get("next_action_at")?,
        lease_until: row.try_get("lease_until")?,
    };
    Ok((candidate, row.try_get("read_at")?))
}

/// Moves the timer of a saga whose turn failed, so that it does not stand in the way of others. The
/// row stays as it is otherwise: whoever repairs it finds it live, with a timer.
pub(crate) async fn put_off(
    conn: &mut PgConnection,
    saga_id: Uuid,
    seconds: f64,
) -> Result<(), Error> {
    sqlx::query(
        "UPDATE sagas SET next_action_at = clock_timestamp() + make_interval(secs => $2)
          WHERE id = $1 AND status IN ('RUNNING', 'COMPENSATING')
            AND (next_action_at IS NULL OR next_action_at <= clock_timestamp())",
    )
    .bind(saga_id)
    .bind(seconds)
    .execute(conn)
    .await?;
    Ok(())
}

/// Log entries as columns, for `unnest`.
struct Columns<'a> {
    entry: Vec<&'static str>,
    step: Vec<&'a str>,
    direction: Vec<&'static str>,
    command_id: Vec<Option<&'a str>>,
    detail: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    fn of(log: &'a [LogEntry]) -> Self {
        Self {
            entry: log.iter().map(|it| it.entry.as_str()).collect(),
            step: log.iter().map(|it| it.step.as_str()).collect(),
            direction: log.iter().map(|it| it.direction.as_str()).collect(),
            command_id: log.iter().map(|it| it.command_id.as_deref()).collect(),
            detail: log.iter().map(|it| it.detail.as_str()).collect(),
        }
    }
}

fn as_i32(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use tercet_saga::{Direction, Status, Wait};
    use tercet_testbed::{eventually, postgres::TestDatabase};

    use super::*;

    fn instance(saga_id: Uuid) -> Instance<String> {
        let now = OffsetDateTime::UNIX_EPOCH;
        Instance {
            saga_id,
            status: Status::Running,
            stuck_reason: None,
            step: "a-step".to_owned(),
            direction: Direction::Forward,
            command_id: Some("a-command".to_owned()),
            wait: Wait::Sent,
            waiting_reason: None,
            attempt: 0,
            asks: 0,
            epoch: 1,
            version: 1,
            data: String::new(),
            learned: None,
            failure: None,
            started_at: now,
            step_since: now,
            next_action_at: None,
        }
    }

    /// Second statement: a save that was prepared without the row's lock waits for the winner, sees
    /// its version, and fails.
    #[tokio::test]
    async fn a_save_that_waited_sees_the_winners_version() {
        let database = TestDatabase::from_sql("saga-rows", &[crate::SCHEMA]).await;
        let saga = SagaRef {
            saga_id: Uuid::now_v7(),
            subject_id: Uuid::now_v7(),
            traceparent: None,
        };
        let definition = DefinitionId {
            kind: "k".to_owned(),
            version: 1,
            hash: "h".to_owned(),
        };
        let mut conn = database.pool().acquire().await.unwrap();
        let mut saved = instance(saga.saga_id);
        insert(&mut conn, &saga, &definition, &saved, &[])
            .await
            .unwrap();
        saved.version = 2;

        let mut winner = database.pool().begin().await.unwrap();
        save(&mut winner, 1, &saved, &[], None).await.unwrap();
        let pool = database.pool().clone();
        let late = saved.clone();
        #[expect(clippy::disallowed_methods, reason = "awaited below")]
        let rival = tokio::spawn(async move {
            let mut tx = pool.begin().await.unwrap();
            save(&mut tx, 1, &late, &[], None).await
        });
        eventually(
            "a save that waits",
            std::time::Duration::from_secs(10),
            async || {
                let waiting: i64 = sqlx::query_scalar(
                    "SELECT count(*) FROM pg_stat_activity
                  WHERE datname = current_database() AND wait_event_type = 'Lock'",
                )
                .fetch_one(database.pool())
                .await
                .unwrap();
                (waiting > 0).then_some(())
            },
        )
        .await;
        winner.commit().await.unwrap();
        let conflict = rival.await.unwrap();
        assert!(matches!(
            conflict,
            Err(Error::VersionConflict { version: 1, .. })
        ));
        let again = save(&mut conn, 1, &saved, &[], None).await;
        assert!(
            matches!(again, Err(Error::VersionConflict { .. })),
            "not a second time either"
        );
    }
}
