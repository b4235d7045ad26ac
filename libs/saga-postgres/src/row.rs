//! A saga's row, and the instance in it.

use serde::de::DeserializeOwned;
use sqlx::{Row as _, postgres::PgRow, types::Json};
use tercet_saga::{DefinitionId, Failure, Instance};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    error::Error,
    participants::{BoxError, SagaRef},
};

/// A row as read: locked, or a candidate.
pub(crate) struct SagaRow<D> {
    pub(crate) instance: Instance<D>,
    pub(crate) saga: SagaRef,
    pub(crate) definition: DefinitionId,
    pub(crate) lease_until: Option<OffsetDateTime>,
    /// The database's clock when the row was read.
    pub(crate) now: OffsetDateTime,
}

/// Everything of [`parse`], in the database's words.
pub(crate) const COLUMNS: &str = "id, kind, subject_id, definition_version, definition_hash, status, \
     stuck_reason, step, direction, command_id, wait, waiting_reason, attempt, asks, epoch, version, \
     data, learned, failure, traceparent, started_at, step_since, next_action_at, lease_until, \
     clock_timestamp() AS read_at";

/// The definition that a row was begun by; read first, because the rest is that definition's.
pub(crate) fn definition(row: &PgRow) -> Result<DefinitionId, Error> {
    let saga_id = row.try_get("id")?;
    let version: i32 = row.try_get("definition_version")?;
    Ok(DefinitionId {
        kind: row.try_get("kind")?,
        version: number(saga_id, "definition_version", version)?,
        hash: row.try_get("definition_hash")?,
    })
}

pub(crate) fn parse<D: DeserializeOwned>(row: &PgRow) -> Result<SagaRow<D>, Error> {
    let saga_id: Uuid = row.try_get("id")?;
    let word = |column: &'static str| -> Result<String, Error> { Ok(row.try_get(column)?) };
    let failure: Option<Json<Failure>> = json(row, saga_id, "failure")?;
    let learned: Option<Json<D>> = json(row, saga_id, "learned")?;
    let data: Option<Json<D>> = json(row, saga_id, "data")?;
    let Some(Json(data)) = data else {
        return Err(corrupt(saga_id, "data", "it is null".into()));
    };
    let instance = Instance {
        saga_id,
        status: parsed(saga_id, "status", &word("status")?)?,
        stuck_reason: row.try_get("stuck_reason")?,
        step: word("step")?,
        direction: parsed(saga_id, "direction", &word("direction")?)?,
        command_id: row.try_get("command_id")?,
        wait: parsed(saga_id, "wait", &word("wait")?)?,
        waiting_reason: row.try_get("waiting_reason")?,
        attempt: number(saga_id, "attempt", row.try_get("attempt")?)?,
        asks: number(saga_id, "asks", row.try_get("asks")?)?,
        epoch: row.try_get("epoch")?,
        version: row.try_get("version")?,
        data,
        learned: learned.map(|Json(learned)| learned),
        failure: failure.map(|Json(failure)| failure),
        started_at: row.try_get("started_at")?,
        step_since: row.try_get("step_since")?,
        next_action_at: row.try_get("next_action_at")?,
    };
    Ok(SagaRow {
        instance,
        saga: SagaRef {
            saga_id,
            subject_id: row.try_get("subject_id")?,
            traceparent: row.try_get("traceparent")?,
        },
        definition: definition(row)?,
        lease_until: row.try_get("lease_until")?,
        now: row.try_get("read_at")?,
    })
}

fn json<T: DeserializeOwned>(
    row: &PgRow,
    saga_id: Uuid,
    column: &'static str,
) -> Result<Option<Json<T>>, Error> {
    row.try_get(column).map_err(|error| match error {
        sqlx::Error::ColumnDecode { source, .. } => corrupt(saga_id, column, source),
        other => Error::Database(other),
    })
}

fn parsed<T>(saga_id: Uuid, column: &'static str, word: &str) -> Result<T, Error>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    word.parse()
        .map_err(|error: T::Err| corrupt(saga_id, column, Box::new(error)))
}

fn number(saga_id: Uuid, column: &'static str, value: i32) -> Result<u32, Error> {
    u32::try_from(value).map_err(|error| corrupt(saga_id, column, Box::new(error)))
}

fn corrupt(saga_id: Uuid, column: &'static str, source: BoxError) -> Error {
    Error::Corrupt {
        saga_id,
        column,
        source,
    }
}
