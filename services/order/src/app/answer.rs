//! The answer to a call under an idempotency key: stored with the key, and given to every repeat.

use std::time::Duration;

use sqlx::PgConnection;
use tercet_idempotency::{Begin, Claim, Flight, Key, RequestHash, begin, complete};

use super::Error;
use crate::domain::Snapshot;

/// How long a key is remembered.
const KEY_TTL: Duration = Duration::from_hours(24);
/// Whose key it is, as long as callers are not told apart.
const TENANT: &str = "default";

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub snapshot: Snapshot,
    /// The work was done by an earlier call with this key.
    pub replayed: bool,
}

pub(super) fn claim(method: &str, key: Key, fingerprint: RequestHash) -> Claim {
    Claim {
        tenant: TENANT.to_owned(),
        method: method.to_owned(),
        key,
        fingerprint,
    }
}

/// Claims the key in the caller's transaction. `None`: it is ours, do the work.
pub(super) async fn replay(
    conn: &mut PgConnection,
    claim: &Claim,
) -> Result<Option<Answer>, Error> {
    match begin(conn, claim, KEY_TTL).await? {
        Begin::Fresh => Ok(None),
        Begin::Replay(stored) => Ok(Some(Answer {
            snapshot: serde_json::from_slice(&stored)?,
            replayed: true,
        })),
        Begin::InFlight => Err(Error::KeyInFlight),
        Begin::Mismatch => Err(Error::KeyReused),
    }
}

/// Stores the answer in the transaction that did the work.
pub(super) async fn keep(
    conn: &mut PgConnection,
    claim: &Claim,
    snapshot: Snapshot,
) -> Result<Answer, Error> {
    complete(conn, claim, &serde_json::to_vec(&snapshot)?).await?;
    Ok(Answer {
        snapshot,
        replayed: false,
    })
}

/// What a call in single flight answers.
pub(super) fn land(flight: Flight<Answer, Error>) -> Result<Answer, Error> {
    match flight {
        Flight::Led(answer) => answer,
        Flight::Followed(answer) => Ok(Answer {
            replayed: true,
            ..answer
        }),
        Flight::Mismatch => Err(Error::KeyReused),
    }
}
