//! Who holds a row. Read from the row itself, so that it shows also while nobody waits: `xmax` of a
//! locked row is the transaction that locked it, and a transaction that is not over holds the lock on
//! its own id.

use sqlx::{AssertSqlSafe, PgConnection, Row as _, postgres::PgRow};
use uuid::Uuid;

use super::session::maybe_when;
use crate::why::storage::Lock;

/// Tables that an order moves through. A migration that rewrites one stops them all.
const TABLES: [&str; 10] = [
    "orders",
    "sagas",
    "inbox_messages",
    "idempotency_keys",
    "payments",
    "reservations",
    "stock",
    "command_guards",
    "outbox_events",
    "outbox_pending",
];

const OF_TABLES: &str = "
    SELECT c.relname::text AS tab, NULL::text AS key, l.pid, a.usename::text AS usename,
           a.application_name, a.state, left(a.query, 300) AS query, a.xact_start, now() AS now,
           ARRAY(SELECT w.pid FROM pg_stat_activity w
                  WHERE w.datname = current_database() AND w.wait_event_type = 'Lock'
                    AND l.pid = ANY (pg_blocking_pids(w.pid))) AS waiting
      FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
      LEFT JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'relation' AND l.granted AND l.mode = 'AccessExclusiveLock'
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND c.relname = ANY ($1)
     ORDER BY a.xact_start";

/// Who keeps everybody from reading a whole table.
pub(super) async fn of_tables(connection: &mut PgConnection) -> sqlx::Result<Vec<Lock>> {
    let rows = sqlx::query(OF_TABLES)
        .bind(&TABLES[..])
        .fetch_all(connection)
        .await?;
    rows.iter().map(lock).collect()
}

// Row-level locks of several transactions at once are not found: their xmax is no transaction.
const OF_ROWS: &str = "
    SELECT held.tab, held.key, l.pid, a.usename::text AS usename, a.application_name, a.state,
           left(a.query, 300) AS query, a.xact_start, now() AS now,
           ARRAY(SELECT w.pid FROM pg_stat_activity w
                  WHERE w.datname = current_database() AND w.wait_event_type = 'Lock'
                    AND l.pid = ANY (pg_blocking_pids(w.pid))) AS waiting
      FROM (ROWS) AS held (tab, key, xid)
      JOIN pg_locks l ON l.locktype = 'transactionid' AND l.granted AND l.transactionid = held.xid
      LEFT JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.pid <> pg_backend_pid()";

/// Who holds the rows that `rows` selects as (table, key, xmax), by up to two ids and some names.
pub(super) async fn of_rows(
    connection: &mut PgConnection,
    rows: &'static str,
    ids: [Option<Uuid>; 2],
    names: &[String],
) -> sqlx::Result<Vec<Lock>> {
    // Typed here: not every selection uses all of them.
    let given = "WITH given AS (SELECT $1::uuid AS first, $2::uuid AS second, $3::text[] AS names)";
    let sql = format!("{given} {}", OF_ROWS.replace("ROWS", rows));
    let [first, second] = ids;
    let rows = sqlx::query(AssertSqlSafe(sql))
        .bind(first)
        .bind(second)
        .bind(names)
        .fetch_all(connection)
        .await?;
    rows.iter().map(lock).collect()
}

fn lock(row: &PgRow) -> sqlx::Result<Lock> {
    Ok(Lock {
        table: row.try_get("tab")?,
        row: row.try_get("key")?,
        pid: row.try_get("pid")?,
        user: row.try_get("usename")?,
        application: row.try_get("application_name")?,
        state: row.try_get("state")?,
        query: row.try_get("query")?,
        since: maybe_when(row, "xact_start")?,
        waiting: row.try_get("waiting")?,
    })
}
