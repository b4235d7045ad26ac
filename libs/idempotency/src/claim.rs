//! Claim a key and answer it, both in the transaction of the work.

use std::time::Duration;

use sqlx::{PgConnection, Row};

use crate::{Error, Key, RequestHash};

/// `SQLSTATE` of a `lock_timeout` that ran out.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Whose key it is, and for which request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Keys of one tenant never meet another's.
    pub tenant: String,
    /// The method that is called; a key may be used once for each.
    pub method: String,
    /// The caller's key.
    pub key: Key,
    /// What the request asks for: the same key with another one is a mistake of the caller.
    pub fingerprint: RequestHash,
}

/// What [`begin`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// The key is yours in this transaction: do the work, then [`complete`] it.
    Fresh,
    /// The work was done: answer with this response, which was stored by [`complete`].
    Replay(Vec<u8>),
    /// Another call with this key is still at work. The transaction is spent: roll back, and let the
    /// caller ask again.
    InFlight,
    /// The key was used for another request.
    Mismatch,
}

/// Claims the key in the caller's transaction, which must be READ COMMITTED. A key that lived longer
/// than the `ttl` it was claimed with is taken over as if it had never been.
///
/// The insert waits while a rival works under the same key, at most for the session's `lock_timeout`:
/// then the answer is [`Begin::InFlight`]. A statement that waited cannot see what the rival
/// committed, so zero rows from it mean that a *second* statement reads the verdict.
pub async fn begin(conn: &mut PgConnection, claim: &Claim, ttl: Duration) -> Result<Begin, Error> {
    let claimed = sqlx::query(
        "INSERT INTO idempotency_keys AS k (tenant, method, key, request_hash, expires_at)
         VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))
         ON CONFLICT (tenant, method, key) DO UPDATE
            SET request_hash = excluded.request_hash, response = NULL,
                created_at = excluded.created_at, expires_at = excluded.expires_at
          WHERE k.expires_at < now()",
    )
    .bind(&claim.tenant)
    .bind(&claim.method)
    .bind(claim.key.as_str())
    .bind(claim.fingerprint.as_bytes())
    .bind(ttl.as_secs_f64())
    .execute(&mut *conn)
    .await;
    match claimed {
        Ok(done) if done.rows_affected() == 1 => Ok(Begin::Fresh),
        Ok(_) => second_look(conn, claim).await,
        Err(sqlx::Error::Database(error))
            if error.code().as_deref() == Some(LOCK_NOT_AVAILABLE) =>
        {
            Ok(Begin::InFlight)
        }
        Err(error) => Err(error.into()),
    }
}

/// Second statement: its snapshot is taken after any wait, so it sees the winner.
async fn second_look(conn: &mut PgConnection, claim: &Claim) -> Result<Begin, Error> {
    let found = sqlx::query(
        "SELECT request_hash, response FROM idempotency_keys
          WHERE tenant = $1 AND method = $2 AND key = $3",
    )
    .bind(&claim.tenant)
    .bind(&claim.method)
    .bind(claim.key.as_str())
    .fetch_optional(conn)
    .await?;
    // Gone: it expired and was purged in between. The caller asks again and gets a fresh one.
    let Some(row) = found else {
        return Ok(Begin::InFlight);
    };
    if row.try_get::<&[u8], _>("request_hash")? != claim.fingerprint.as_bytes() {
        return Ok(Begin::Mismatch);
    }
    let response = row.try_get::<Option<Vec<u8>>, _>("response")?;
    // Without a response: a claim that was committed before its answer, against this library's rule.
    Ok(response.map_or(Begin::InFlight, Begin::Replay))
}

/// Stores the response in the transaction that claimed the key. Do not store failures that may pass:
/// roll back instead, and the key is free again.
pub async fn complete(
    conn: &mut PgConnection,
    claim: &Claim,
    response: &[u8],
) -> Result<(), Error> {
    let updated = sqlx::query(
        "UPDATE idempotency_keys SET response = $5
          WHERE tenant = $1 AND method = $2 AND key = $3 AND request_hash = $4 AND response IS NULL",
    )
    .bind(&claim.tenant)
    .bind(&claim.method)
    .bind(claim.key.as_str())
    .bind(claim.fingerprint.as_bytes())
    .bind(response)
    .execute(conn)
    .await?
    .rows_affected();
    if updated == 1 {
        Ok(())
    } else {
        Err(Error::NotClaimed)
    }
}
