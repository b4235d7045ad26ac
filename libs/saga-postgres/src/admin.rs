//! What people see of sagas. Reads only.

use sqlx::{PgConnection, Row as _, postgres::PgRow};
use tercet_saga::Status;
use time::OffsetDateTime;
use uuid::Uuid;

/// A saga as people see it; words are as they are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SagaView {
    /// Its id.
    pub saga_id: Uuid,
    /// Its definition's name.
    pub kind: String,
    /// Its definition's version.
    pub definition_version: i32,
    /// What it is about.
    pub subject_id: Uuid,
    /// `RUNNING`, `COMPENSATING`, `COMPLETED`, `COMPENSATED`, `FAILED`.
    pub status: String,
    /// Why a person must look.
    pub stuck_reason: Option<String>,
    /// Why it waits.
    pub waiting_reason: Option<String>,
    /// Where it is.
    pub step: String,
    /// `FORWARD` or `BACKWARD`.
    pub direction: String,
    /// Sends in a row without an ack.
    pub attempt: i32,
    /// Raised by each takeover.
    pub epoch: i64,
    /// Raised by each saved change.
    pub version: i64,
    /// The outstanding command.
    pub command_id: Option<String>,
    /// Why it turned back.
    pub failure_reason: Option<String>,
    /// When it began.
    pub started_at: OffsetDateTime,
    /// Its latest change.
    pub updated_at: OffsetDateTime,
    /// When its timer fires.
    pub next_action_at: Option<OffsetDateTime>,
}

/// A line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Rises within a saga.
    pub seq: i64,
    /// When.
    pub at: OffsetDateTime,
    /// What happened, `UPPER_SNAKE`.
    pub entry: String,
    /// To which step.
    pub step: String,
    /// `FORWARD` or `BACKWARD`.
    pub direction: String,
    /// Which command it is about.
    pub command_id: Option<String>,
    /// A sentence for people.
    pub detail: String,
}

/// Which sagas to list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only these.
    pub status: Option<Status>,
    /// Only those that wait for a person.
    pub stuck_only: bool,
    /// Only those after this one in the list: start time and id of a page's last saga.
    pub after: Option<(OffsetDateTime, Uuid)>,
}

const VIEW: &str = "id, kind, definition_version, subject_id, status, stuck_reason, waiting_reason, \
     step, direction, attempt, epoch, version, command_id, failure->>'reason' AS failure_reason, \
     started_at, updated_at, next_action_at";

/// The newest sagas first, at most `limit`.
///
/// # Errors
/// The database cannot be asked.
pub async fn list(
    conn: &mut PgConnection,
    filter: &Filter,
    limit: i64,
) -> sqlx::Result<Vec<SagaView>> {
    let sql = format!(
        "SELECT {VIEW} FROM sagas
          WHERE ($1::text IS NULL OR status = $1)
            AND (NOT $2 OR stuck_reason IS NOT NULL)
            AND ($3::timestamptz IS NULL OR (started_at, id) < ($3, $4::uuid))
          ORDER BY started_at DESC, id DESC LIMIT $5"
    );
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(filter.status.map(Status::as_str))
        .bind(filter.stuck_only)
        .bind(filter.after.map(|(at, _)| at))
        .bind(filter.after.map(|(_, id)| id))
        .bind(limit)
        .fetch_all(conn)
        .await?;
    rows.iter().map(view).collect()
}

/// The saga of this id, or the latest one about the subject of this id.
///
/// # Errors
/// The database cannot be asked.
pub async fn find(conn: &mut PgConnection, id: Uuid) -> sqlx::Result<Option<SagaView>> {
    let sql = format!(
        "SELECT {VIEW} FROM sagas WHERE id = $1 OR subject_id = $1
          ORDER BY (id = $1) DESC, started_at DESC LIMIT 1"
    );
    let row = sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(id)
        .fetch_optional(conn)
        .await?;
    row.as_ref().map(view).transpose()
}

/// The timeline of a saga, the oldest line first, at most `limit` lines.
///
/// # Errors
/// The database cannot be asked.
pub async fn log(conn: &mut PgConnection, saga_id: Uuid, limit: i64) -> sqlx::Result<Vec<LogLine>> {
    let rows = sqlx::query(
        "SELECT seq, at, entry, step, direction, command_id, detail FROM saga_log
          WHERE saga_id = $1 ORDER BY seq LIMIT $2",
    )
    .bind(saga_id)
    .bind(limit)
    .fetch_all(conn)
    .await?;
    rows.iter().map(line).collect()
}

fn view(row: &PgRow) -> sqlx::Result<SagaView> {
    Ok(SagaView {
        saga_id: row.try_get("id")?,
        kind: row.try_get("kind")?,
        definition_version: row.try_get("definition_version")?,
        subject_id: row.try_get("subject_id")?,
        status: row.try_get("status")?,
        stuck_reason: row.try_get("stuck_reason")?,
        waiting_reason: row.try_get("waiting_reason")?,
        step: row.try_get("step")?,
        direction: row.try_get("direction")?,
        attempt: row.try_get("attempt")?,
        epoch: row.try_get("epoch")?,
        version: row.try_get("version")?,
        command_id: row.try_get("command_id")?,
        failure_reason: row.try_get("failure_reason")?,
        started_at: row.try_get("started_at")?,
        updated_at: row.try_get("updated_at")?,
        next_action_at: row.try_get("next_action_at")?,
    })
}

fn line(row: &PgRow) -> sqlx::Result<LogLine> {
    Ok(LogLine {
        seq: row.try_get("seq")?,
        at: row.try_get("at")?,
        entry: row.try_get("entry")?,
        step: row.try_get("step")?,
        direction: row.try_get("direction")?,
        command_id: row.try_get("command_id")?,
        detail: row.try_get("detail")?,
    })
}
