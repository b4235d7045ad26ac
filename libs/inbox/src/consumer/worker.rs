//! The task of one partition: handles its messages until each took effect or was parked.

use std::{
    collections::BTreeSet,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, StreamExt, stream};
use sqlx::PgPool;
use tokio::{
    sync::{Semaphore, mpsc},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{ConsumerOptions, HandleError, Handled, Handler};
use crate::{Envelope, Error, attempts, dead_letter::park, error::chain, metrics::Metrics};

/// What all partitions of a consumer share.
pub(crate) struct Shared<H> {
    pub(crate) handler: H,
    pub(crate) options: ConsumerOptions,
    /// For dead letters: their commit waits for the disk.
    pub(crate) pool: PgPool,
    /// For attempts: they must survive the process, not the database's host.
    pub(crate) attempts_pool: PgPool,
    pub(crate) permits: Semaphore,
    pub(crate) metrics: Metrics,
}

/// The partition is revoked, or the consumer stops; the message stays where it is.
struct Stopped;

pub(crate) struct Worker<H> {
    shared: Arc<Shared<H>>,
    /// The offset that may be committed.
    handled: Arc<AtomicI64>,
    stop: CancellationToken,
    /// So many messages after the assignment may have killed the last owner.
    suspects: usize,
}

impl<H: Handler> Worker<H> {
    pub(crate) fn new(
        shared: Arc<Shared<H>>,
        handled: Arc<AtomicI64>,
        stop: CancellationToken,
    ) -> Self {
        let suspects = shared.options.batch_max;
        Self {
            shared,
            handled,
            stop,
            suspects,
        }
    }

    pub(crate) async fn run(mut self, mut messages: mpsc::Receiver<Envelope>) {
        let batch_max = self.shared.options.batch_max.max(1);
        let mut batch = Vec::with_capacity(batch_max);
        loop {
            let limit = if self.suspects > 0 { 1 } else { batch_max };
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                received = messages.recv_many(&mut batch, limit) => if received == 0 { return },
            }
            let done = match batch.pop() {
                Some(suspect) if self.suspects > 0 => {
                    self.suspects -= 1;
                    self.handle_suspect(suspect).await
                }
                Some(last) => {
                    batch.push(last);
                    self.handle_batch(batch.drain(..)).await
                }
                None => Ok(()),
            };
            if done.is_err() {
                return;
            }
        }
    }

    /// One message alone. Its try is written down before it begins: if the process dies of it, the
    /// next one knows, and parks it after `attempts_max`.
    async fn handle_suspect(&self, envelope: Envelope) -> Result<(), Stopped> {
        let (shared, group) = (&self.shared, &self.shared.options.group);
        let tries = self
            .persist(|| attempts::begin(&shared.attempts_pool, group, &envelope))
            .await?;
        tercet_crash_point::crash_point!("inbox.after_attempt");
        if u32::try_from(tries).unwrap_or_default() > shared.options.attempts_max {
            self.park(&envelope, "the process ended while it handled this message")
                .await?;
        } else {
            self.handle(&envelope).await?;
        }
        self.persist(|| attempts::end(&shared.attempts_pool, group, &envelope))
            .await?;
        self.handled.store(envelope.offset + 1, Ordering::Release);
        Ok(())
    }

    /// Lanes at once, each in order. If a message fails, the other lanes take effect all the same,
    /// and the offset waits for it.
    async fn handle_batch(&self, batch: impl Iterator<Item = Envelope>) -> Result<(), Stopped> {
        let mut lanes: Vec<Vec<Envelope>> = Vec::new();
        let mut open = BTreeSet::new();
        let mut end = None;
        for envelope in batch {
            open.insert(envelope.offset);
            end = Some(envelope.offset + 1);
            match lanes.iter_mut().find(|lane| {
                lane.first()
                    .is_some_and(|first| first.lane() == envelope.lane())
            }) {
                Some(lane) => lane.push(envelope),
                None => lanes.push(vec![envelope]),
            }
        }
        let open = Mutex::new(open);
        let results: Vec<Result<(), Stopped>> = stream::iter(lanes)
            .map(|lane| self.handle_lane(lane, &open, end))
            .buffer_unordered(self.shared.options.concurrency_max.max(1))
            .collect()
            .await;
        results.into_iter().collect()
    }

    async fn handle_lane(
        &self,
        lane: Vec<Envelope>,
        open: &Mutex<BTreeSet<i64>>,
        end: Option<i64>,
    ) -> Result<(), Stopped> {
        for envelope in lane {
            self.handle(&envelope).await?;
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            open.remove(&envelope.offset);
            // Only as far as nothing before it is open.
            if let Some(offset) = open.first().copied().or(end) {
                self.handled.store(offset, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Tries one message until it took effect or was parked.
    async fn handle(&self, envelope: &Envelope) -> Result<(), Stopped> {
        let mut retry = Retry::new(&self.shared, envelope);
        let mut panics = 0_u32;
        loop {
            if self.stop.is_cancelled() {
                return Err(Stopped);
            }
            let why = match self.one_try(envelope).await {
                Ok(()) => return Ok(()),
                Err(Failed::Poison(why)) => return self.park(envelope, &why).await,
                Err(Failed::Panic) => {
                    panics += 1;
                    if panics >= self.shared.options.attempts_max {
                        return self
                            .park(envelope, "the handler panicked on this message")
                            .await;
                    }
                    "the handler panicked".to_owned()
                }
                Err(Failed::Transient(why)) => why,
            };
            retry.pause(&self.stop, &why).await;
        }
    }

    async fn one_try(&self, envelope: &Envelope) -> Result<(), Failed> {
        // Never closed; if it were, waiting for the stop is right.
        let Ok(_permit) = self.shared.permits.acquire().await else {
            return Err(Failed::Transient("the consumer stops".to_owned()));
        };
        tercet_crash_point::crash_point!("inbox.before_handle");
        let begun = Instant::now();
        let tried = AssertUnwindSafe(self.shared.handler.handle(envelope.clone())).catch_unwind();
        let result = tried.await;
        tercet_crash_point::crash_point!("inbox.after_handle");
        let seconds = begun.elapsed().as_secs_f64();
        match result {
            Ok(Ok(handled)) => {
                let result = match handled {
                    Handled::Done => "done",
                    Handled::Skipped => "skipped",
                };
                self.shared.metrics.handled(result, seconds);
                Ok(())
            }
            Ok(Err(HandleError::Poison(error))) => Err(Failed::Poison(chain(error.as_ref()))),
            Ok(Err(HandleError::Transient(error))) => Err(Failed::Transient(chain(error.as_ref()))),
            Err(_) => Err(Failed::Panic),
        }
    }

    async fn park(&self, envelope: &Envelope, why: &str) -> Result<(), Stopped> {
        let (shared, group) = (&self.shared, &self.shared.options.group);
        self.persist(|| park(&shared.pool, group, envelope, why))
            .await?;
        tracing::error!(
            tercet.message.id = envelope.header("ce_id"),
            topic = envelope.topic,
            partition = envelope.partition,
            offset = envelope.offset,
            error = why,
            "a message is parked as a dead letter"
        );
        shared.metrics.parked();
        Ok(())
    }

    /// Our own statements: tried until the database takes them.
    async fn persist<T, F, Fut>(&self, statement: F) -> Result<T, Stopped>
    where
        F: Fn() -> Fut,
        Fut: Future<Output = Result<T, Error>>,
    {
        let mut pause = self.shared.options.backoff_first;
        loop {
            let error = match statement().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            tracing::warn!(
                error = chain(&error),
                "the inbox's own record is written again"
            );
            tokio::select! {
                () = self.stop.cancelled() => return Err(Stopped),
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(self.shared.options.backoff_max);
        }
    }
}

enum Failed {
    Transient(String),
    Poison(String),
    Panic,
}

/// The pauses between the tries of one message, and the word about them.
struct Retry<'a, H> {
    shared: &'a Shared<H>,
    envelope: &'a Envelope,
    failures: u32,
}

impl<'a, H> Retry<'a, H> {
    fn new(shared: &'a Shared<H>, envelope: &'a Envelope) -> Self {
        Self {
            shared,
            envelope,
            failures: 0,
        }
    }

    async fn pause(&mut self, stop: &CancellationToken, why: &str) {
        let options = &self.shared.options;
        let doubled = 2_u32.saturating_pow(self.failures.min(20));
        let pause: Duration = options
            .backoff_first
            .saturating_mul(doubled)
            .min(options.backoff_max);
        self.failures += 1;
        self.shared.metrics.failed();
        if self.failures == 1 {
            self.shared.metrics.held(1);
        }
        // The first, and then ever more rarely: an hour's outage is a dozen lines.
        if self.failures.is_power_of_two() {
            tracing::warn!(
                tercet.message.id = self.envelope.header("ce_id"),
                topic = self.envelope.topic,
                partition = self.envelope.partition,
                offset = self.envelope.offset,
                failures = self.failures,
                error = why,
                "a message holds its partition and is tried again"
            );
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = sleep(pause) => {}
        }
    }
}

impl<H> Drop for Retry<'_, H> {
    fn drop(&mut self) {
        if self.failures > 0 {
            self.shared.metrics.held(-1);
        }
    }
}
