//! What can go wrong with a key.

/// Why a key could not be claimed or answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database refused or could not be asked.
    #[error("the idempotency keys' database failed")]
    Database(#[from] sqlx::Error),
    /// [`complete`](crate::complete) without a claim of the same transaction that still waits for its answer.
    #[error("the key is not claimed by this call")]
    NotClaimed,
}

impl Error {
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => !error
                .as_database_error()
                .and_then(sqlx::error::DatabaseError::code)
                .is_some_and(|code| code.starts_with("22") || code.starts_with("23")),
            Self::NotClaimed => false,
        }
    }
}
