//! The worker's loop: what handlers hand over, what is due, what a dead process left.

use std::{sync::Arc, time::Duration};

use tercet_service_kit::owned;
use tercet_telemetry::metrics::definitions::PAYMENT_OUTCOME_UNKNOWN_OLDEST;
use tokio::{
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{App, Error, Intake, handover::Handed};
use crate::{
    gateway::Gateway,
    store::payments::{self, Record},
};

/// Payments at the processor at once. Each is mostly waiting; ones that hang must not keep the
/// others from being asked.
const JOBS_MAX: usize = 256;
/// A claim's transaction stays short.
const CLAIM_MAX: usize = 64;
const POLL: Duration = Duration::from_millis(250);
const MEASURE: Duration = Duration::from_secs(10);

/// Finishes what handlers opened. One in each process; they share the work by leases.
#[derive(Debug)]
pub struct Worker<G> {
    app: App,
    gateway: Arc<G>,
    cycle: Duration,
}

impl<G> Clone for Worker<G> {
    fn clone(&self) -> Self {
        Self {
            app: self.app.clone(),
            gateway: Arc::clone(&self.gateway),
            cycle: self.cycle,
        }
    }
}

impl<G: Gateway> Worker<G> {
    /// `cycle`: the longest that an open payment rests before it is asked about again.
    pub fn new(app: App, gateway: G, cycle: Duration) -> Self {
        Self {
            app,
            gateway: Arc::new(gateway),
            cycle,
        }
    }

    pub(super) fn app(&self) -> &App {
        &self.app
    }

    pub(super) fn gateway(&self) -> Arc<G> {
        Arc::clone(&self.gateway)
    }

    pub(super) fn cycle(&self) -> Duration {
        self.cycle
    }

    /// Claims what is due and takes it as far as it goes now; tells how many that were. What
    /// [`run`](Self::run) does all the time, as one step for tests and tools.
    pub async fn advance_due(&self) -> Result<usize, Error> {
        let claimed = self.claim(CLAIM_MAX).await?;
        let count = claimed.len();
        for record in claimed {
            self.advance(record).await;
        }
        Ok(count)
    }

    /// Works until `shutdown`, then ends what is at the processor.
    pub async fn run(self, mut intake: Intake, shutdown: CancellationToken) {
        let mut jobs = JoinSet::new();
        let mut poll = interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut measure = interval(MEASURE);
        measure.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let has_room = jobs.len() < JOBS_MAX;
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                Some(ended) = jobs.join_next() => note(ended),
                Some(handed) = intake.queue.recv(), if has_room => self.take(&mut jobs, handed),
                () = intake.look.notified(), if has_room => self.claim_into(&mut jobs).await,
                _ = poll.tick(), if has_room => self.claim_into(&mut jobs).await,
                _ = measure.tick() => self.measure().await,
            }
        }
        while let Ok(handed) = intake.queue.try_recv() {
            self.take(&mut jobs, handed);
        }
        // Each ends by the gateway's timeout at the latest; what comes later finds its lease over.
        while let Some(ended) = jobs.join_next().await {
            note(ended);
        }
    }

    /// What waited for long may be another worker's by now: it is found again as due, if it is not.
    fn take(&self, jobs: &mut JoinSet<()>, handed: Handed) {
        if handed.since.elapsed() < self.app.inner.lease.length / 2 {
            self.start(jobs, handed.record);
        }
    }

    fn start(&self, jobs: &mut JoinSet<()>, record: Record) {
        let worker = self.clone();
        jobs.spawn(async move { worker.advance(record).await });
    }

    async fn claim_into(&self, jobs: &mut JoinSet<()>) {
        let room = JOBS_MAX.saturating_sub(jobs.len()).min(CLAIM_MAX);
        match self.claim(room).await {
            Ok(claimed) => {
                for record in claimed {
                    self.start(jobs, record);
                }
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "nothing was claimed"
                );
            }
        }
    }

    async fn claim(&self, limit: usize) -> Result<Vec<Record>, Error> {
        let app = self.app.clone();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        owned(async move {
            let mut conn = app.inner.pool.acquire().await?;
            Ok(payments::claim_due(&mut conn, &app.inner.lease, limit).await?)
        })
        .await?
    }

    async fn measure(&self) {
        let app = self.app.clone();
        let oldest = owned(async move {
            let mut conn = app.inner.pool.acquire().await?;
            payments::oldest_unknown_seconds(&mut conn).await
        });
        match oldest.await {
            Ok(Ok(seconds)) => PAYMENT_OUTCOME_UNKNOWN_OLDEST.record(seconds, &[]),
            Ok(Err(error)) => tracing::debug!(%error, "unknown outcomes were not measured"),
            Err(error) => tracing::debug!(%error, "unknown outcomes were not measured"),
        }
    }
}

fn note(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a payment's work ended in a panic; it is claimed again");
    }
}
