//! A session that reads, never writes, and never waits long for anything.

use std::str::FromStr as _;

use sqlx::{
    ConnectOptions as _, PgConnection, Row as _,
    postgres::{PgConnectOptions, PgRow},
};
use time::OffsetDateTime;

use super::{doors::plain, locks};
use crate::why::{facts::When, storage::Lock};

/// Of one statement, and of one wait for a lock, in milliseconds.
const STATEMENT_MS: &str = "400";
const LOCK_MS: &str = "200";

/// A session, or why there is nothing to read in it.
pub(super) enum Session {
    Open(PgConnection),
    /// Whole tables are locked: whoever reads waits.
    Locked(Vec<Lock>),
}

/// Opens one.
pub(super) async fn open(url: &str) -> Result<Session, String> {
    let options = PgConnectOptions::from_str(url).map_err(|_| "the URL is not valid".to_owned())?;
    let options = options.application_name("tercet why").options([
        ("default_transaction_read_only", "on"),
        ("statement_timeout", STATEMENT_MS),
        ("lock_timeout", LOCK_MS),
    ]);
    let mut connection = options.connect().await.map_err(|error| told(&error))?;
    // Before anything else is read: it would hang on such a lock.
    let locks = locks::of_tables(&mut connection).await;
    let locks = locks.map_err(|error| told(&error))?;
    if locks.is_empty() {
        Ok(Session::Open(connection))
    } else {
        Ok(Session::Locked(locks))
    }
}

/// An error in one line, without what only a programmer wants to know.
pub(super) fn told(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Io(error) => plain(error),
        sqlx::Error::Database(error) => error.message().to_owned(),
        other => other.to_string(),
    }
}

/// A column of times, measured from the row's `now`.
pub(super) fn when(row: &PgRow, column: &str) -> sqlx::Result<When> {
    let at: OffsetDateTime = row.try_get(column)?;
    Ok(from(row.try_get("now")?, at))
}

/// The same for a column that may be empty.
pub(super) fn maybe_when(row: &PgRow, column: &str) -> sqlx::Result<Option<When>> {
    let at: Option<OffsetDateTime> = row.try_get(column)?;
    let now = row.try_get("now")?;
    Ok(at.map(|at| from(now, at)))
}

fn from(now: OffsetDateTime, at: OffsetDateTime) -> When {
    let ahead_ms = i64::try_from((at - now).whole_milliseconds()).unwrap_or(i64::MAX);
    When { at, ahead_ms }
}
