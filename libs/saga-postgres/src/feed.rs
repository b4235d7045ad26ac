//! Inputs from outside, each in a transaction of its own: outcomes, and what came of a send.

use sqlx::PgConnection;
use tercet_inbox::{Seen, record};
use tercet_saga::{Input, Judgement, Saga};
use uuid::Uuid;

use crate::{
    engine::{Engine, FollowUp},
    error::Error,
    participants::{OutcomeEvent, Participants},
};

/// The name under which outcomes are recorded in the inbox, whichever way they came.
const CONSUMER: &str = "saga";

/// What became of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fed {
    /// It moved its saga, now.
    Obeyed,
    /// It came before, by Kafka or with an ack.
    Duplicate,
    /// Its command is not outstanding: written into the timeline, never obeyed.
    Late,
    /// Its saga cannot run here, so no inbox row was written: the saga's next ask brings it again.
    Unrunnable,
    /// There is no such saga: the message belongs with the dead letters.
    UnknownSaga,
}

impl<S: Saga, P: Participants<S>> Engine<S, P> {
    /// Gives an outcome to its saga: inbox row, transition and local steps are one transaction. The
    /// next command goes out after the commit.
    ///
    /// # Errors
    /// Transient ones: try again. [`Error::Unreadable`]: never again.
    pub async fn outcome(&self, outcome: OutcomeEvent) -> Result<Fed, Error> {
        let engine = self.clone();
        let task = async move { engine.take(&outcome).await };
        self.owned(task).await
    }

    async fn take(&self, outcome: &OutcomeEvent) -> Result<Fed, Error> {
        let read = self.inner.participants.read(outcome);
        let reply = read.map_err(|source| Error::Unreadable {
            event_id: outcome.event_id,
            source,
        })?;
        let mut tx = self.inner.pool.begin().await?;
        let taken = self.take_in(&mut tx, outcome, reply).await;
        match taken {
            Ok(Some((judgement, follow_up))) => {
                tx.commit().await?;
                tercet_crash_point::crash_point!("saga.after_outcome_commit");
                self.follow_up(follow_up);
                Ok(match judgement {
                    Judgement::Obeyed => Fed::Obeyed,
                    Judgement::Late | Judgement::Ignored | Judgement::TooLate => Fed::Late,
                })
            }
            Ok(None) => {
                tx.rollback().await?;
                Ok(Fed::Duplicate)
            }
            Err(error) => {
                // Explicitly: a dropped transaction keeps its locks until a spawned task gets a turn.
                tx.rollback().await?;
                match error {
                    Error::Unknown { .. } => Ok(Fed::UnknownSaga),
                    error if error.is_about_the_row() => {
                        tracing::error!(error = %chain(&error), "an outcome waits for its saga's row to be repaired");
                        Ok(Fed::Unrunnable)
                    }
                    error => Err(error),
                }
            }
        }
    }

    async fn take_in(
        &self,
        conn: &mut PgConnection,
        outcome: &OutcomeEvent,
        reply: S::Reply,
    ) -> Result<Option<(Judgement, FollowUp<S>)>, Error> {
        // Lock order: the inbox row, the saga, the saga's subject.
        if record(conn, CONSUMER, outcome.event_id).await? == Seen::Duplicate {
            return Ok(None);
        }
        // A second statement: it sees what a rival committed while the insert waited.
        let row = self.locked(conn, outcome.saga_id).await?;
        let input = Input::Outcome {
            command_id: outcome.command_id.clone(),
            reply,
        };
        self.transition(conn, row, input, None).await.map(Some)
    }

    /// Gives any other input to a saga, in a transaction of its own.
    pub(crate) async fn feed(
        &self,
        saga_id: Uuid,
        input: Input<S::Reply>,
    ) -> Result<Judgement, Error> {
        let mut tx = self.inner.pool.begin().await?;
        let fed = async {
            let row = self.locked(&mut tx, saga_id).await?;
            self.transition(&mut tx, row, input, None).await
        }
        .await;
        match fed {
            Ok((judgement, follow_up)) => {
                tx.commit().await?;
                self.follow_up(follow_up);
                Ok(judgement)
            }
            Err(error) => {
                tx.rollback().await?;
                Err(error)
            }
        }
    }

    /// Runs `task` to its end, whatever becomes of the caller.
    pub(crate) async fn owned<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        use tracing::Instrument as _;
        let task = self.inner.work.spawn(task.in_current_span());
        task.await.map_err(Error::Aborted)?
    }
}

/// An error with its causes, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
