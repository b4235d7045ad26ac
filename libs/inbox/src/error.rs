//! What can go wrong in the inbox.

/// Why a statement of the inbox, or the consumer around it, failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database refused or could not be asked.
    #[error("the inbox's database failed")]
    Database(#[from] sqlx::Error),
    /// A guard row was there to stop an insert and then was not: someone purges guards.
    #[error("the guard of command {command_id} vanished while it was read")]
    GuardVanished {
        /// The command.
        command_id: String,
    },
    /// There is no open command to keep this outcome for: it was never admitted, or is decided.
    #[error("saga {saga_id} has no open {direction} command of step {step} to keep an outcome for")]
    NotOpen {
        /// The saga.
        saga_id: uuid::Uuid,
        /// The step.
        step: String,
        /// `FORWARD` or `BACKWARD`.
        direction: &'static str,
    },
    /// Messages could come after their inbox rows are gone, and take effect twice.
    #[error(
        "inbox rows are kept for {inbox_keep:?}, but a message of {topic} can come for \
         {topic_retention:?} (topic retention) + {redrive_age_max:?} (dead letters sent anew)"
    )]
    RetentionTooShort {
        /// The topic.
        topic: String,
        /// How long inbox rows are kept.
        inbox_keep: std::time::Duration,
        /// How long the topic keeps messages; the maximum stands for ever.
        topic_retention: std::time::Duration,
        /// The age up to which dead letters are sent anew.
        redrive_age_max: std::time::Duration,
    },
    /// The broker does not tell, and no setting does.
    #[error("the retention of {topic} is unknown: {why}")]
    RetentionUnknown {
        /// The topic.
        topic: String,
        /// What the broker said.
        why: String,
    },
    /// The system has no thread for the polling.
    #[error("the consumer's thread could not be started")]
    Thread(#[source] std::io::Error),
    /// The polling thread ended without being told to.
    #[error("the consumer's thread died")]
    ThreadDied,
    /// A kept outcome cannot be read back.
    #[error("the outcome kept for command {command_id} cannot be read")]
    CorruptOutcome {
        /// The command.
        command_id: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
}

impl Error {
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => !error
                .as_database_error()
                .and_then(sqlx::error::DatabaseError::code)
                .is_some_and(|code| code.starts_with("22") || code.starts_with("23")),
            Self::GuardVanished { .. }
            | Self::Thread(_)
            | Self::ThreadDied
            | Self::RetentionUnknown { .. } => true,
            Self::NotOpen { .. } | Self::CorruptOutcome { .. } | Self::RetentionTooShort { .. } => {
                false
            }
        }
    }
}

/// An error with everything beneath it, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |source| source.source())
        .fold(error.to_string(), |text, source| {
            format!("{text}: {source}")
        })
}
