//! The engine: one transition, one transaction. Saved first; what it asks for goes out after the
//! commit, and if that is lost the timer asks again.

use std::{fmt, sync::Arc};

use sqlx::{PgConnection, PgPool, postgres::PgRow};
use tercet_saga::{
    Definition, DefinitionId, Effect, Failure, Input, Instance, Jitter, Judgement, LogEntry, Saga,
    SendCommand, Transition, advance, start,
};
use time::OffsetDateTime;
use tokio::sync::{Mutex, mpsc};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::{
    error::Error,
    options::EngineOptions,
    participants::{Outgoing, Participants, SagaRef},
    row::{self, SagaRow},
    store::{self, Lease, Rival},
};

/// Runs the sagas of one definition over the rows of one database. Cheap to clone.
pub struct Engine<S: Saga, P> {
    pub(crate) inner: Arc<Inner<S, P>>,
}

pub(crate) struct Inner<S: Saga, P> {
    pub(crate) pool: PgPool,
    pub(crate) definition: Definition<S>,
    pub(crate) definition_id: DefinitionId,
    pub(crate) participants: P,
    pub(crate) options: EngineOptions,
    pub(crate) queue: mpsc::Sender<Queued<S>>,
    pub(crate) queued: Mutex<mpsc::Receiver<Queued<S>>>,
    /// Transactions at work. A dropped caller must not cancel one half way: sqlx would hand the
    /// connection, with the open transaction on it, to the next borrower.
    pub(crate) work: TaskTracker,
}

/// A command that is to be sent, now that it is saved.
pub(crate) struct Queued<S: Saga> {
    pub(crate) command: Outgoing<S::Command>,
    /// Sent before, as far as the saga knows.
    pub(crate) again: bool,
}

/// What is to be done once the caller's transaction has committed: give it to
/// [`Engine::follow_up`]. After a rollback, drop it.
#[must_use = "give it to Engine::follow_up after the commit"]
pub struct FollowUp<S: Saga> {
    pub(crate) saga: SagaRef,
    pub(crate) send: Option<SendCommand<S::Command>>,
    pub(crate) ran_local: bool,
}

impl<S: Saga> fmt::Debug for FollowUp<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FollowUp")
            .field("saga", &self.saga)
            .field("send", &self.send)
            .finish_non_exhaustive()
    }
}

impl<S: Saga, P> Clone for Engine<S, P> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<S: Saga, P> fmt::Debug for Engine<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("definition", &self.inner.definition_id)
            .field("options", &self.inner.options)
            .finish_non_exhaustive()
    }
}

impl<S: Saga, P: Participants<S>> Engine<S, P> {
    /// An engine over the database of `pool`. Commands go out while [`run`](Self::run) runs.
    pub fn new(
        pool: PgPool,
        definition: Definition<S>,
        participants: P,
        options: EngineOptions,
    ) -> Self {
        let (queue, queued) = mpsc::channel(options.queue_max.max(1));
        let inner = Inner {
            pool,
            definition_id: definition.id(),
            definition,
            participants,
            options,
            queue,
            queued: Mutex::new(queued),
            work: TaskTracker::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Begins a saga in the caller's transaction: its row, its timeline and the local steps it begins
    /// with. If the process dies after the commit, the saga's timer sends the first command.
    ///
    /// # Errors
    /// [`Error::SubjectBusy`] if the subject has a live saga; the transaction must not commit.
    pub async fn start(
        &self,
        conn: &mut PgConnection,
        saga: SagaRef,
        data: S::Data,
    ) -> Result<FollowUp<S>, Error> {
        let begun = start(
            &self.inner.definition,
            saga.saga_id,
            data,
            OffsetDateTime::UNIX_EPOCH,
        );
        let Transition {
            instance,
            effects,
            log,
            ..
        } = begun;
        store::insert(conn, &saga, &self.inner.definition_id, &instance, &log).await?;
        self.obey(conn, saga, &instance, effects).await
    }

    /// Turns a saga back in the caller's transaction, if that is still possible: the judgement says.
    /// Locks the saga's row; the caller locks its subject afterwards, never before.
    ///
    /// # Errors
    /// There is no such saga, or its row cannot be run here.
    pub async fn cancel(
        &self,
        conn: &mut PgConnection,
        saga_id: Uuid,
        failure: Failure,
    ) -> Result<(Judgement, FollowUp<S>), Error> {
        let row = self.locked(conn, saga_id).await?;
        self.transition(conn, row, Input::Cancel(failure), None)
            .await
    }

    /// Hands on what a committed transaction asked for. Never blocks: what finds no place in the queue
    /// is sent by the saga's timer.
    pub fn follow_up(&self, follow_up: FollowUp<S>) {
        if follow_up.ran_local {
            self.inner.participants.committed();
        }
        let Some(send) = follow_up.send else { return };
        let queued = Queued {
            again: send.again,
            command: Outgoing {
                saga_id: follow_up.saga.saga_id,
                subject_id: follow_up.saga.subject_id,
                command_id: send.command_id,
                step: send.step,
                direction: send.direction,
                epoch: send.epoch,
                traceparent: follow_up.saga.traceparent,
                command: send.command,
            },
        };
        if let Err(error) = self.inner.queue.try_send(queued) {
            tracing::warn!(%error, "a command is left to its timer");
        }
    }

    pub(crate) async fn locked(
        &self,
        conn: &mut PgConnection,
        saga_id: Uuid,
    ) -> Result<SagaRow<S::Data>, Error> {
        let row = store::lock(conn, saga_id, Rival::Wait).await?;
        self.runnable(&row.ok_or(Error::Unknown { saga_id })?)
    }

    /// Reads a row if it was begun by our steps; a foreign one is not even looked into.
    pub(crate) fn runnable(&self, row: &PgRow) -> Result<SagaRow<S::Data>, Error> {
        let definition = row::definition(row)?;
        if definition != self.inner.definition_id {
            return Err(Error::UnknownDefinition {
                saga_id: sqlx::Row::try_get(row, "id")?,
                kind: definition.kind,
                version: i32::try_from(definition.version).unwrap_or(i32::MAX),
            });
        }
        row::parse(row)
    }

    /// One step of one saga, whose row the caller's transaction has locked: advance, save, local steps.
    pub(crate) async fn transition(
        &self,
        conn: &mut PgConnection,
        row: SagaRow<S::Data>,
        input: Input<S::Reply>,
        lease: Option<Lease<'_>>,
    ) -> Result<(Judgement, FollowUp<S>), Error> {
        let SagaRow {
            instance: before,
            saga,
            now,
            ..
        } = row;
        let jitter = Jitter::new(rand::random());
        let transition =
            advance(&self.inner.definition, &before, input, now, jitter).map_err(|source| {
                Error::Unrunnable {
                    saga_id: saga.saga_id,
                    source,
                }
            })?;
        let Transition {
            instance,
            effects,
            log,
            judgement,
        } = transition;
        if instance != before || !log.is_empty() {
            store::save(conn, before.version, &instance, &log, lease).await?;
            tell(&saga, &log);
        }
        let follow_up = self.obey(conn, saga, &instance, effects).await?;
        Ok((judgement, follow_up))
    }

    /// Does what must be done inside the transaction, and keeps the rest for after it.
    async fn obey(
        &self,
        conn: &mut PgConnection,
        saga: SagaRef,
        instance: &Instance<S::Data>,
        effects: Vec<Effect<S::Command, S::Local>>,
    ) -> Result<FollowUp<S>, Error> {
        let mut follow_up = FollowUp {
            saga,
            send: None,
            ran_local: false,
        };
        for effect in effects {
            match effect {
                Effect::RunLocal(local) => {
                    let (world, saga) = (&self.inner.participants, &follow_up.saga);
                    world
                        .run_local(conn, saga, instance.current(), local)
                        .await
                        .map_err(|source| Error::Local {
                            saga_id: saga.saga_id,
                            source,
                        })?;
                    follow_up.ran_local = true;
                }
                Effect::Send(send) => follow_up.send = Some(send),
                Effect::Finish(_) => {}
            }
        }
        Ok(follow_up)
    }
}

fn tell(saga: &SagaRef, log: &[LogEntry]) {
    for line in log {
        tracing::debug!(
            tercet.saga.id = %saga.saga_id,
            tercet.saga.step = line.step,
            tercet.command.id = line.command_id,
            entry = %line.entry,
            "{}", line.detail
        );
        if line.entry == tercet_saga::Entry::Stuck {
            tracing::error!(
                tercet.saga.id = %saga.saga_id,
                tercet.saga.step = line.step,
                "a saga is stuck and waits for a person: {}", line.detail
            );
        }
    }
}
