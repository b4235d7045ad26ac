//! What can go wrong between a saga and its rows.

use tercet_saga::Unrunnable;
use uuid::Uuid;

use crate::participants::{BoxError, ReadError};

/// Why the engine could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database refused or could not be asked.
    #[error("the sagas' database failed")]
    Database(#[from] sqlx::Error),
    /// The inbox row could not be written.
    #[error("the outcome could not be recorded")]
    Inbox(#[from] tercet_inbox::Error),
    /// Somebody else saved the saga first. Nothing of this transaction may be committed.
    #[error("saga {saga_id} was changed by someone else at version {version}")]
    VersionConflict {
        /// The saga.
        saga_id: Uuid,
        /// The version that was expected.
        version: i64,
    },
    /// There is no such saga.
    #[error("there is no saga {saga_id}")]
    Unknown {
        /// The saga.
        saga_id: Uuid,
    },
    /// The subject has a live saga already.
    #[error("{subject_id} has a live saga already")]
    SubjectBusy {
        /// The subject.
        subject_id: Uuid,
    },
    /// The row was begun by other steps than this program has.
    #[error(
        "saga {saga_id} was begun by {kind} version {version}, which this program does not run"
    )]
    UnknownDefinition {
        /// The saga.
        saga_id: Uuid,
        /// The definition's name.
        kind: String,
        /// The definition's version.
        version: i32,
    },
    /// The row stands where its definition cannot go on.
    #[error("saga {saga_id} cannot be continued")]
    Unrunnable {
        /// The saga.
        saga_id: Uuid,
        /// Why.
        #[source]
        source: Unrunnable,
    },
    /// The row cannot be read.
    #[error("the row of saga {saga_id} is corrupt: {column}")]
    Corrupt {
        /// The saga.
        saga_id: Uuid,
        /// The column.
        column: &'static str,
        /// What is wrong with it.
        #[source]
        source: BoxError,
    },
    /// The outcome cannot be read, and never will be.
    #[error("outcome {event_id} cannot be read")]
    Unreadable {
        /// The event.
        event_id: Uuid,
        /// Why.
        #[source]
        source: ReadError,
    },
    /// A local step failed; the transition is as if it had never been.
    #[error("a local step of saga {saga_id} failed")]
    Local {
        /// The saga.
        saga_id: Uuid,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// The saga's own code panicked; the transition is as if it had never been.
    #[error("the code of saga {saga_id} panicked")]
    Panicked {
        /// The saga.
        saga_id: Uuid,
    },
    /// The saga's data cannot be written as JSON.
    #[error("the saga's data cannot be written")]
    Encode(#[from] serde_json::Error),
    /// The work ended without a result: it panicked, or the process is ending.
    #[error("the work was aborted")]
    Aborted(#[source] tokio::task::JoinError),
}

impl Error {
    /// Trying again, unchanged, may help.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(_)
            | Self::Inbox(_)
            | Self::VersionConflict { .. }
            | Self::Local { .. }
            | Self::Panicked { .. }
            | Self::Aborted(_) => true,
            Self::Unknown { .. }
            | Self::SubjectBusy { .. }
            | Self::UnknownDefinition { .. }
            | Self::Unrunnable { .. }
            | Self::Corrupt { .. }
            | Self::Unreadable { .. }
            | Self::Encode(_) => false,
        }
    }

    /// The row cannot be run by this program, whatever comes. Other sagas are not affected.
    pub fn is_about_the_row(&self) -> bool {
        matches!(
            self,
            Self::UnknownDefinition { .. } | Self::Unrunnable { .. } | Self::Corrupt { .. }
        )
    }

    /// The database cannot be asked, whatever the saga: no other one would fare better now.
    pub(crate) fn is_about_the_database(&self) -> bool {
        match self {
            Self::Database(sqlx::Error::Database(refusal)) => {
                refusal.code().is_some_and(|code| {
                    // No connection, no resources, shutting down, or a standby. Not 57014: that is
                    // one statement's own timeout.
                    ["08", "53", "57P", "25006"]
                        .iter()
                        .any(|class| code.starts_with(class))
                })
            }
            Self::Database(error) => matches!(
                error,
                sqlx::Error::Io(_)
                    | sqlx::Error::Tls(_)
                    | sqlx::Error::Protocol(_)
                    | sqlx::Error::PoolTimedOut
                    | sqlx::Error::PoolClosed
                    | sqlx::Error::WorkerCrashed
            ),
            _ => false,
        }
    }
}
