//! Timers that have come, and sagas that nobody minds. Each saga by itself, in its own transaction:
//! one that cannot be run never holds up another.

use std::time::Duration;

use tercet_saga::{Input, Saga, recovery};
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
const PUT_OFF: Duration = Duration::from_mins(5);

/// What to do with a locked row.
enum Turn<'a> {
    Timer,
    Resume(Lease<'a>),
    Leave,
}

impl<S: Saga, P: Participants<S>> Engine<S, P> {
    /// Fires due timers, at most [`timers_max`](crate::EngineOptions::timers_max), and tells how many
    /// were looked at. Another engine's fire of the same timer has no effect: whoever comes second
    /// finds the row locked, or the timer moved.
    ///
    /// # Errors
    /// The database cannot be asked.
    pub async fn fire_due_timers(&self) -> Result<usize, Error> {
        let mut conn = self.inner.pool.acquire().await?;
        let limit = self.inner.options.timers_max;
        let due = store::due(&mut conn, &self.inner.definition_id, limit).await?;
        drop(conn);
        for saga_id in &due {
            self.isolated(*saga_id, |_| Turn::Timer).await;
        }
        Ok(due.len())
    }

    /// Takes over sagas whose timer is missing or long overdue, raising their epoch, and tells how
    /// many. Goes through all of them, a page at a time.
    ///
    /// # Errors
    /// The database cannot be asked.
    pub async fn resume_idle(&self) -> Result<usize, Error> {
        let options = &self.inner.options;
        let (mut after, mut resumed, mut unknown) = (Uuid::nil(), 0, 0);
        loop {
            let mut conn = self.inner.pool.acquire().await?;
            let page = store::idle(
                &mut conn,
                S::NAME,
                options.overdue_after.as_secs_f64(),
                after,
                options.page,
            )
            .await?;
            drop(conn);
            let full = i64::try_from(page.len()).is_ok_and(|len| len >= options.page);
            for candidate in page {
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
                    Ok(()) => resumed += usize::from(self.resume(after).await),
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

    async fn resume(&self, saga_id: Uuid) -> bool {
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

    /// One saga's turn. Its failure is told here and stays here.
    async fn isolated<'a>(
        &'a self,
        saga_id: Uuid,
        turn: impl FnOnce(&SagaRow<S::Data>) -> Turn<'a> + Send,
    ) -> bool {
        match self.turn(saga_id, turn).await {
            Ok(Some(follow_up)) => {
                self.follow_up(follow_up);
                true
            }
            Ok(None) => false,
            Err(error) => {
                tracing::error!(tercet.saga.id = %saga_id, error = %chain(&error), "a saga's turn failed");
                if error.is_about_the_row() {
                    self.put_off(saga_id).await;
                }
                false
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

    async fn put_off(&self, saga_id: Uuid) {
        let put_off = async {
            let mut conn = self.inner.pool.acquire().await?;
            store::put_off(&mut conn, saga_id, PUT_OFF.as_secs_f64()).await
        };
        if let Err(error) = put_off.await {
            tracing::warn!(tercet.saga.id = %saga_id, error = %chain(&error), "a timer could not be moved");
        }
    }
}
