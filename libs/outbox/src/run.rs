//! The relay's loop, and its end.

use std::time::Duration;

use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::{Error, Publisher, Relay, pending, purge};

/// After an error of the database, or of a rebuild, nothing is tried for so long.
const ERROR_PAUSE: Duration = Duration::from_millis(200);
/// Held rows are checked, and the backlog measured, this often.
const UPKEEP: Duration = Duration::from_secs(5);
const RETENTION: Duration = Duration::from_mins(10);

impl<P: Publisher> Relay<P> {
    /// Publishes until `shutdown`, then what is left for a short while, then gives its partitions
    /// back. Errors are logged and tried again; it ends only by `shutdown`.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let mut side = JoinSet::new();
        let owner = self.options.owner.clone();
        side.spawn(self.wake.clone().announce(self.pool.clone(), owner.clone()));
        side.spawn(self.wake.clone().listen(self.pool.clone(), owner));
        side.spawn(retention(self.pool.clone(), self.options.keep));

        let mut pace = Pace::new(self.options.poll_min, self.options.poll_max);
        while !shutdown.is_cancelled() {
            let stepped = self.step(&mut pace).await;
            self.note(stepped.as_ref().err());
            if stepped.is_err() {
                tokio::select! {
                    () = shutdown.cancelled() => {}
                    () = sleep(ERROR_PAUSE) => {}
                }
                continue;
            }
            self.wait(&mut pace, &shutdown).await;
        }
        self.drain().await;
        side.shutdown().await;
        self.pool.close().await;
    }

    /// Everything that is due now, in the order of what cannot wait.
    async fn step(&mut self, pace: &mut Pace) -> Result<(), Error> {
        let now = Instant::now();
        if pace.leases_at <= now {
            self.keep_leases().await?;
            pace.leases_at = now + self.options.lease / 5;
        }
        if self.broken {
            self.rebuild().await?;
        }
        self.absorb_ready();
        self.settle().await?;
        if pace.upkeep_at <= now {
            pace.upkeep_at = now + UPKEEP;
            self.upkeep().await?;
        }
        let room = self.room();
        if pace.read_at <= now && room > 0 {
            let found = self.read().await?;
            pace.has_read(found, found >= room);
        }
        Ok(())
    }

    async fn wait(&mut self, pace: &mut Pace, shutdown: &CancellationToken) {
        self.absorb_ready();
        if self.unsettled() || self.broken {
            return;
        }
        let wake = self.wake.clone();
        let due = pace.due(self.room() > 0);
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = self.absorb_next() => {}
            () = wake.notified() => pace.read_at = Instant::now(),
            () = sleep_until(due) => {}
        }
    }

    /// A producer that is broken, or that holds records which are not ours any more: away with it.
    /// The rows know what has to be sent again.
    pub(crate) async fn rebuild(&mut self) -> Result<(), Error> {
        self.tell_health();
        tracing::warn!("the outbox's producer is thrown away and built anew");
        self.publisher.rebuild().await?;
        // Purged records report at once; what does not is not waited for beyond its own timeout.
        self.absorb_all(Instant::now() + self.publisher.delivery_timeout())
            .await;
        self.settle().await?;
        self.broken = false;
        Ok(())
    }

    async fn upkeep(&mut self) -> Result<(), Error> {
        let released = pending::release_held(&self.pool, &self.leases.usable()).await?;
        if released > 0 {
            tracing::debug!(released, "held events that nothing precedes were let go");
        }
        let (pending, oldest_seconds) = pending::backlog(&self.pool).await?;
        self.metrics.backlog(pending, oldest_seconds);
        Ok(())
    }

    /// Publishes what is committed for as long as it goes quickly, and leaves nothing under way.
    async fn drain(&mut self) {
        let end = Instant::now() + self.options.drain;
        loop {
            let found = match self.read().await {
                Ok(found) => found,
                Err(error) => {
                    self.note(Some(&error));
                    0
                }
            };
            let all_reported = self.absorb_all(end).await;
            if let Err(error) = self.settle().await {
                self.note(Some(&error));
            }
            if found == 0 || !all_reported || Instant::now() >= end {
                break;
            }
        }
        if !self.absorb_all(Instant::now()).await {
            self.broken = true;
            if let Err(error) = self.rebuild().await {
                self.note(Some(&error));
            }
        }
        if let Err(error) = self.leases.give_back(&self.pool).await {
            self.note(Some(&error));
        }
    }

    /// An outage is one line in the log, not one for each try.
    fn note(&mut self, error: Option<&Error>) {
        let why = error.map(|error| chain(error));
        if let Some(why) = &why
            && self.database_error.as_ref() != Some(why)
        {
            tracing::warn!(error = why, "the outbox's relay is held up and tries again");
        }
        self.database_error = why;
        self.tell_health();
    }
}

/// When the relay looks at what.
struct Pace {
    leases_at: Instant,
    upkeep_at: Instant,
    read_at: Instant,
    poll: Duration,
    poll_min: Duration,
    poll_max: Duration,
}

impl Pace {
    fn new(poll_min: Duration, poll_max: Duration) -> Self {
        let now = Instant::now();
        Self {
            leases_at: now,
            upkeep_at: now,
            read_at: now,
            poll: poll_min,
            poll_min,
            poll_max,
        }
    }

    /// Looks again at once if there was more than fits, soon if there was something, else ever later.
    fn has_read(&mut self, found: usize, more: bool) {
        self.poll = match found {
            0 => (self.poll * 2).min(self.poll_max),
            _ => self.poll_min,
        };
        self.read_at = Instant::now() + if more { Duration::ZERO } else { self.poll };
    }

    fn due(&self, room: bool) -> Instant {
        let due = self.leases_at.min(self.upkeep_at);
        if room { due.min(self.read_at) } else { due }
    }
}

async fn retention(pool: sqlx::PgPool, keep: Duration) {
    loop {
        sleep(RETENTION).await;
        match purge(&pool, keep).await {
            Ok(0) => {}
            Ok(purged) => tracing::info!(purged, "old events of the outbox were deleted"),
            Err(error) => tracing::warn!(error = chain(&error), "old events were not deleted"),
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |source| source.source())
        .fold(error.to_string(), |text, source| {
            format!("{text}: {source}")
        })
}
