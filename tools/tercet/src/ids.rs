//! Where ids are made. `UUIDv7`: new ones sort after old ones.

use uuid::Uuid;

/// An id nobody has used.
pub fn fresh() -> Uuid {
    Uuid::now_v7()
}

/// An idempotency key for a call whose caller named none.
pub fn fresh_key() -> String {
    format!("tercet-cli-{}", fresh())
}

/// A word that no other run on this machine uses, short enough to read in a topic's name.
pub fn run_name(prefix: &str) -> String {
    let tail = fresh().simple().to_string();
    let tail = tail.get(20..).unwrap_or_default();
    format!("{prefix}-{tail}")
}
