//! Commands on their way, and what their acks mean to the saga.

use tercet_saga::{Input, Saga, SendFailure};
use tokio::time::timeout;

use crate::{
    engine::{Engine, Queued},
    error::Error,
    feed::chain,
    participants::{Ack, Participants, SendError},
};

impl<S: Saga, P: Participants<S>> Engine<S, P> {
    /// Sends one command and tells the saga what is worth a commit. Whatever fails here, the saga's
    /// timer sends again.
    pub(crate) async fn send(&self, queued: Queued<S>) {
        tercet_crash_point::crash_point!("saga.after_save");
        let Queued { command, again } = queued;
        let (saga_id, command_id) = (command.saga_id, command.command_id.clone());
        // A participant that hangs must not keep its place, nor hold up a shutdown.
        let within = self.inner.options.send_timeout;
        let answer = timeout(within, self.inner.participants.send(command))
            .await
            .unwrap_or_else(|_| Err(SendError::NoAck("the send did not end in time".to_owned())));
        if let Err(error) = &answer {
            tracing::info!(tercet.command.id = command_id, %error, "a command was not acknowledged");
        }
        let command = command_id.clone();
        let told = match answer {
            // The timer is set as if it had been acked: a first ack is not worth a commit.
            Ok(Ack::Accepted | Ack::InProgress) if !again => Ok(()),
            Ok(Ack::Accepted | Ack::InProgress) => {
                self.tell(saga_id, Input::Acked { command_id }).await
            }
            Ok(Ack::Decided(outcome)) => self.outcome(outcome).await.map(|_| ()),
            Err(SendError::StaleEpoch { highest }) => {
                let input = Input::StaleEpoch {
                    command_id,
                    highest,
                };
                self.tell(saga_id, input).await
            }
            Err(SendError::AlreadyUndone) => {
                self.tell(saga_id, Input::AlreadyUndone { command_id })
                    .await
            }
            Err(failed) => {
                let kind = kind(failed);
                self.tell(saga_id, Input::SendFailed { command_id, kind })
                    .await
            }
        };
        if let Err(error) = told {
            tracing::warn!(
                tercet.command.id = command,
                error = %chain(&error),
                "what came of a command could not be saved; its timer asks again"
            );
        }
    }

    async fn tell(&self, saga_id: uuid::Uuid, input: Input<S::Reply>) -> Result<(), Error> {
        self.feed(saga_id, input).await.map(|_| ())
    }
}

fn kind(failed: SendError) -> SendFailure {
    match failed {
        SendError::CannotConnect(_) => SendFailure::CannotConnect,
        SendError::Rejected(why) => SendFailure::Rejected(why),
        // The two others never come here; to send again is right for whatever does.
        SendError::NoAck(_) | SendError::StaleEpoch { .. } | SendError::AlreadyUndone => {
            SendFailure::NoAck
        }
    }
}
