//! Timers that have come, and sagas that nobody minds. Each saga by itself, in its own transaction:
//! one that cannot be run never holds up another.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt as _;
use tercet_saga::{Input, Saga, recovery};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    engine::{Engine, FollowUp},
    error::Error,
    feed::chain,
    participants::Participants,
    row::SagaRow,
    store::{self, Lease, Rival},
};

/// A row that cannot be run is looked at again after this long.
const PUT_OFF_UNRUNNABLE: Duration = Duration::from_mins(5);
/// A saga whose turn failed for another reason of its own is tried again after this long.
const PUT_OFF_FAILED: Duration = Duration::from_secs(5);

/// What to do with a locked row.
enum Turn<'a> {
    Timer,
    Resume(Lease<'a>),
    Leave,
}

impl<S: Saga, P: Participants<S>> Engine<S, P> {
    /// Fires the timers that are due, a page at a time, and tells how many were looked at. Another
    /// engine's fire of the same timer has no effect: whoever comes second finds the row locked, or
    /// the timer moved.
    ///
    /// # Errors
    /// The database cannot be asked.
    pub async fn fire_due_timers(&self) -> Result<usize, Error> {
        self.fire_timers(&CancellationToken::new()).await
    }

    /// [`fire_due_timers`](Self::fire_due_timers), or the part of it that comes before `shutdown`.
    pub(crate) async fn fire_timers(&self, shutdown: &CancellationToken) -> Result<usize, Error> {
        let (page, definition) = (self.inner.options.page, &self.inner.definition_id);
        let (mut look, mut looked_at) = (None, 0);
        loop {
            let mut conn = self.inner.pool.acquire().await?;
            let (due, next) = store::due(&mut conn, definition, look, page).await?;
            drop(conn);
            for saga_id in &due {
                if shutdown.is_cancelled() {
                    return Ok(looked_at);
                }
                looked_at += 1;
                self.isolated(*saga_id, |_| Turn::Timer).await?;
            }
            if !is_full(due.len(), page) {
                return Ok(looked_at);
            }
            look = next;
        }
    }

    /// Takes over sagas whose timer is missing or long overdue, raising their epoch, and tells how
    /// many. Goes through all of them, a page at a time.
    ///
    /// # Errors
    /// The database cannot be asked.
    pub async fn resume_idle(&self) -> Result<usize, Error> {
        self.resume_lost(&CancellationToken::new()).await
    }

    /// [`resume_idle`](Self::resume_idle), or the part of it that comes before `shutdown`.
    pub(crate) async fn resume_lost(&self, shutdown: &CancellationToken) -> Result<usize, Error> {
        let options = &self.inner.options;
        let (overdue, page) = (options.overdue_after.as_secs_f64(), options.page);
        let (mut after, mut resumed, mut unknown) = (Uuid::nil(), 0, 0);
        loop {
            let mut conn = self.inner.pool.acquire().await?;
            let idle = store::idle(&mut conn, S::NAME, overdue, after, page).await?;
            drop(conn);
            let full = is_full(idle.len(), page);
            for candidate in idle {
                if shutdown.is_cancelled() {
                    return Ok(resumed);
                }
                let (candidate, now) = match candidate {
                    Ok(candidate) => candidate,
                    Err(error) => {
                        tracing::error!(error = %chain(&error), "a saga's row cannot be read");
                        if let Error::Corrupt { saga_id, .. } = error {
                            after = saga_id;
                        }
                        continue;
                    }
                };
                after = candidate.saga_id;
                let definition = &self.inner.definition_id;
                match recovery::decide(&candidate, definition, now, options.overdue_after) {
                    Ok(()) => resumed += usize::from(self.resume(after).await?),
                    Err(recovery::Leave::UnknownDefinition) => unknown += 1,
                    Err(_) => {}
                }
            }
            if !full {
                break;
            }
        }
        if unknown > 0 {
            tracing::error!(
                unknown,
                "live sagas were begun by steps that this program does not have"
            );
        }
        Ok(resumed)
    }

    async fn resume(&self, saga_id: Uuid) -> Result<bool, Error> {
        let options = &self.inner.options;
        self.isolated(saga_id, |row| {
            // Decided again, now that the row is locked: another engine may have been here.
            let candidate = recovery::Candidate {
                saga_id,
                definition: row.definition.clone(),
                status: row.instance.status,
                next_action_at: row.instance.next_action_at,
                lease_until: row.lease_until,
            };
            let definition = &self.inner.definition_id;
            match recovery::decide(&candidate, definition, row.now, options.overdue_after) {
                Ok(()) => Turn::Resume(Lease {
                    owner: &options.owner,
                    seconds: options.lease.as_secs_f64(),
                }),
                Err(_) => Turn::Leave,
            }
        })
        .await
    }

    /// One saga's turn. Its failure, and a panic of its code, is told here and stays here; only a
    /// database that cannot be asked ends the look.
    async fn isolated<'a>(
        &'a self,
        saga_id: Uuid,
        turn: impl FnOnce(&SagaRow<S::Data>) -> Turn<'a> + Send,
    ) -> Result<bool, Error> {
        // Unwind safe: what a panic leaves behind is the transaction, which rolls back.
        let turn = AssertUnwindSafe(self.turn(saga_id, turn)).catch_unwind();
        match turn.await.unwrap_or(Err(Error::Panicked { saga_id })) {
            Ok(Some(follow_up)) => {
                self.follow_up(follow_up);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) if error.is_about_the_database() => Err(error),
            Err(error) => {
                tracing::error!(tercet.saga.id = %saga_id, error = %chain(&error), "a saga's turn failed");
                let pause = if error.is_about_the_row() {
                    PUT_OFF_UNRUNNABLE
                } else {
                    PUT_OFF_FAILED
                };
                self.put_off(saga_id, pause).await;
                Ok(false)
            }
        }
    }

    async fn turn<'a>(
        &'a self,
        saga_id: Uuid,
        turn: impl FnOnce(&SagaRow<S::Data>) -> Turn<'a> + Send,
    ) -> Result<Option<FollowUp<S>>, Error> {
        let mut tx = self.inner.pool.begin().await?;
        let done = async {
            let Some(row) = store::lock(&mut tx, saga_id, Rival::Skip).await? else {
                return Ok(None);
            };
            let row = self.runnable(&row)?;
            let (input, lease) = match turn(&row) {
                Turn::Timer => (Input::Timer, None),
                Turn::Resume(lease) => (Input::Resume, Some(lease)),
                Turn::Leave => return Ok(None),
            };
            let (_, follow_up) = self.transition(&mut tx, row, input, lease).await?;
            Ok(Some(follow_up))
        }
        .await;
        match done {
            Ok(done) => {
                tx.commit().await?;
                Ok(done)
            }
            Err(error) => {
                tx.rollback().await?;
                Err(error)
            }
        }
    }

    async fn put_off(&self, saga_id: Uuid, pause: Duration) {
        let put_off = async {
            let mut conn = self.inner.pool.acquire().await?;
            store::put_off(&mut conn, saga_id, pause.as_secs_f64()).await
        };
        if let Err(error) = put_off.await {
            tracing::warn!(tercet.saga.id = %saga_id, error = %chain(&error), "a timer could not be moved");
        }
    }
}

fn is_full(rows: usize, page: i64) -> bool {
    i64::try_from(rows).is_ok_and(|rows| rows >= page.max(1))
}
