//! The relay: reads what was committed, publishes it in waves, forgets what the broker acknowledged.
//!
//! At least once: a crash between the acknowledgement and the mark publishes an event again, under
//! the same id. In order: [`Waves`] alone decides what may be sent. No row lock and no transaction
//! is held while the broker is asked.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

use crate::{
    Error, PublishError, Publisher, RelayOptions, Wake,
    metrics::Metrics,
    partition::Leases,
    pending::{self, Failure},
    row::{Aggregate, Row},
    waves::{Placed, Waves},
};

/// Marks, wake-ups in both directions, retention: one connection each.
const CONNECTIONS: u32 = 4;
/// While the broker answers nothing, so many events are tried at once, not all of them.
const WINDOW_MIN: usize = 16;
/// Without news of the broker for so long, it is taken to be well.
const BROKER_ERROR_LASTS: Duration = Duration::from_secs(10);
const ERROR_TEXT_MAX: usize = 500;

/// Publishes the events of one database's outbox. Make one for each process; they share the work.
pub struct Relay<P> {
    pub(crate) pool: PgPool,
    pub(crate) publisher: Arc<P>,
    pub(crate) options: RelayOptions,
    pub(crate) wake: Wake,
    pub(crate) leases: Leases,
    pub(crate) metrics: Metrics,
    pub(crate) health: watch::Sender<Health>,
    waves: Waves,
    under_way: FuturesUnordered<BoxFuture<'static, Report>>,
    /// Reports that the database does not know yet.
    published: Vec<i64>,
    failures: Vec<Failure>,
    /// How many events may be in our hands: the options' bound, less while the broker is away.
    window: usize,
    /// The producer must be rebuilt before anything is sent.
    pub(crate) broken: bool,
    /// What keeps the relay from its work: the database, or the broker and since when.
    pub(crate) database_error: Option<String>,
    broker_error: Option<(String, Instant)>,
}

/// What a pass did: row numbers, in the order of the broker's reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pass {
    /// Acknowledged.
    pub published: Vec<i64>,
    /// Not acknowledged; each waits for its next try.
    pub failed: Vec<i64>,
}

/// Whether the relay can do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It can.
    Ready,
    /// It cannot, for this reason; it keeps trying.
    NotReady(String),
}

struct Report {
    id: i64,
    partition: i16,
    attempts: i32,
    aggregate: Aggregate,
    seconds: f64,
    result: Result<(), PublishError>,
}

impl<P: Publisher> Relay<P> {
    /// A relay over the database that `pool` is connected to. It opens a few connections of its own,
    /// on which a commit does not wait for the disk: a mark that is lost only means a duplicate.
    pub fn new(pool: &PgPool, publisher: P, options: RelayOptions) -> Result<(Self, Wake), Error> {
        let reserve = options.lease_reserve(publisher.delivery_timeout())?;
        let wake = Wake::default();
        let relay = Self {
            pool: own_pool(pool),
            publisher: Arc::new(publisher),
            leases: Leases::new(options.owner.clone(), options.lease, reserve),
            wake: wake.clone(),
            metrics: Metrics::new(),
            health: watch::Sender::new(Health::NotReady("starting".to_owned())),
            waves: Waves::default(),
            under_way: FuturesUnordered::new(),
            published: Vec::new(),
            failures: Vec::new(),
            window: options.in_flight_max,
            broken: false,
            database_error: Some("starting".to_owned()),
            broker_error: None,
            options,
        };
        Ok((relay, wake))
    }

    /// Whether the relay can do its work, now and from now on.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    /// Reads once and publishes what was read, wave after wave, to the last report: what
    /// [`run`](Self::run) does all the time, as one step for tests and tools.
    pub async fn one_pass(&mut self) -> Result<Pass, Error> {
        self.keep_leases().await?;
        if self.broken {
            self.rebuild().await?;
        }
        self.read().await?;
        let mut pass = Pass::default();
        while let Some(report) = self.under_way.next().await {
            match &report.result {
                Ok(()) => pass.published.push(report.id),
                Err(_) => pass.failed.push(report.id),
            }
            self.absorb(report);
        }
        self.settle().await?;
        Ok(pass)
    }

    /// Renews, shares and takes partitions. If one was lost under a record that is under way, the
    /// producer goes, and the record with it: its new owner sends it.
    pub(crate) async fn keep_leases(&mut self) -> Result<(), Error> {
        let waves = &self.waves;
        let lost = self
            .leases
            .keep(&self.pool, |partition| waves.touches(partition))
            .await?;
        self.wake.set_alone(self.leases.alone());
        if lost.iter().any(|partition| self.waves.touches(*partition)) {
            tracing::warn!(?lost, "outbox partitions were lost with records under way");
            self.broken = true;
        }
        let leases = &self.leases;
        self.waves
            .retain_partitions(|partition| leases.epoch(partition).is_some());
        self.metrics.leased(self.leases.usable().len());
        Ok(())
    }

    /// How many more events fit into our hands.
    pub(crate) fn room(&self) -> usize {
        self.window
            .saturating_sub(self.waves.len() + self.published.len())
    }

    /// Reads what may be sent, and sends what nothing precedes. Answers with how many rows it found.
    pub(crate) async fn read(&mut self) -> Result<usize, Error> {
        let (partitions, room) = (self.leases.usable(), self.room());
        if partitions.is_empty() || room == 0 || self.broken {
            return Ok(0);
        }
        let here: Vec<i64> = self
            .waves
            .ids()
            .chain(self.published.iter().copied())
            .collect();
        let rows = pending::read(&self.pool, &partitions, &here, room).await?;
        let found = rows.len();
        let mut blocked = Vec::new();
        for row in rows {
            match self.waves.offer(row) {
                Placed::Send(row) => self.send(row),
                Placed::Waits => {}
                Placed::Blocked(aggregate) => blocked.push(aggregate),
            }
        }
        if !blocked.is_empty() {
            blocked.sort_unstable();
            blocked.dedup();
            pending::hold(&self.pool, &blocked).await?;
        }
        Ok(found)
    }

    /// Hands a row over, if its partition is still ours for long enough to get the report.
    fn send(&mut self, row: Row) {
        if self.broken || !self.leases.may_queue(row.partition) {
            self.waves.forget(&row.aggregate());
            return;
        }
        let (id, partition, attempts) = (row.id, row.partition, row.attempts);
        let aggregate = row.aggregate();
        let record = row.into_record(&self.options.source, &self.options.schema_base);
        let publisher = Arc::clone(&self.publisher);
        let queued_at = Instant::now();
        self.under_way.push(
            async move {
                let result = publisher.publish(record).await;
                let seconds = queued_at.elapsed().as_secs_f64();
                Report {
                    id,
                    partition,
                    attempts,
                    aggregate,
                    seconds,
                    result,
                }
            }
            .boxed(),
        );
    }

    /// Takes a report: the next event of its aggregate goes only now.
    fn absorb(&mut self, report: Report) {
        let error = match report.result {
            Ok(()) => {
                self.metrics.published(report.seconds);
                self.published.push(report.id);
                self.window = (self.window * 2).min(self.options.in_flight_max);
                if let Some(next) = self.waves.acknowledged(&report.aggregate) {
                    self.send(next);
                }
                return;
            }
            Err(error) => error,
        };
        self.waves.forget(&report.aggregate);
        self.metrics.failed(error.kind());
        tracing::debug!(outbox.id = report.id, %error, "an event was not acknowledged");
        let counted = matches!(error, PublishError::Refused(_));
        if !counted {
            self.window = (self.window / 2).max(WINDOW_MIN.min(self.options.in_flight_max));
            self.broker_error = Some((error.to_string(), Instant::now()));
        }
        self.broken |= matches!(error, PublishError::Fatal(_));
        if let Some(epoch) = self.leases.epoch(report.partition) {
            let attempt = u32::try_from(report.attempts).unwrap_or_default() + 1;
            self.failures.push(Failure {
                id: report.id,
                epoch,
                counted,
                delay: if counted {
                    self.options.backoff(attempt, rand::random())
                } else {
                    self.options.backoff_unavailable
                },
                error: error
                    .to_string()
                    .replace('\0', " ")
                    .chars()
                    .take(ERROR_TEXT_MAX)
                    .collect(),
            });
        }
    }

    /// Tells the world how it goes.
    pub(crate) fn tell_health(&mut self) {
        // An outage is heard of again and again, unless nobody has anything to publish.
        self.broker_error
            .take_if(|(_, at)| at.elapsed() > BROKER_ERROR_LASTS);
        let why = match (&self.database_error, &self.broker_error) {
            (Some(why), _) => Some(why.clone()),
            (None, Some((why, _))) => Some(format!("publishing failed: {why}")),
            (None, None) if self.broken => Some("the producer is being rebuilt".to_owned()),
            (None, None) => None,
        };
        let now = why.map_or(Health::Ready, Health::NotReady);
        self.health
            .send_if_modified(|health| std::mem::replace(health, now.clone()) != now);
    }

    /// Takes the reports that are there already.
    pub(crate) fn absorb_ready(&mut self) {
        while let Some(Some(report)) = self.under_way.next().now_or_never() {
            self.absorb(report);
        }
    }

    /// Waits for one report; for ever if nothing is under way.
    pub(crate) async fn absorb_next(&mut self) {
        match self.under_way.next().await {
            Some(report) => self.absorb(report),
            None => std::future::pending().await,
        }
    }

    /// Waits until nothing is under way, at most until `end`. False if something still is.
    pub(crate) async fn absorb_all(&mut self, end: Instant) -> bool {
        while !self.under_way.is_empty() {
            match timeout_at(end, self.under_way.next()).await {
                Ok(Some(report)) => self.absorb(report),
                Ok(None) => break,
                Err(_) => return false,
            }
        }
        true
    }

    /// Whether the database has yet to learn of a report.
    pub(crate) fn unsettled(&self) -> bool {
        !self.published.is_empty() || !self.failures.is_empty()
    }

    /// Writes the reports down. What fails here stays and is written with the next.
    pub(crate) async fn settle(&mut self) -> Result<(), Error> {
        if !self.published.is_empty() {
            tercet_crash_point::crash_point!("outbox.before_mark");
            pending::mark_published(&self.pool, &self.published).await?;
            self.published.clear();
            tercet_crash_point::crash_point!("outbox.after_mark");
            self.broker_error = None;
        }
        if !self.failures.is_empty() {
            let (owner, attempts_max) = (&self.options.owner, self.options.attempts_max);
            let quarantined =
                pending::mark_failed(&self.pool, owner, attempts_max, &self.failures).await?;
            for id in quarantined {
                let failure = self.failures.iter().find(|failure| failure.id == id);
                let error = failure.map_or("", |failure| failure.error.as_str());
                tracing::error!(
                    outbox.id = id,
                    error,
                    "an event is quarantined; its aggregate's later events wait for an operator"
                );
                self.metrics.quarantined();
            }
            self.failures.clear();
        }
        Ok(())
    }
}

impl<P: std::fmt::Debug> std::fmt::Debug for Relay<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay")
            .field("owner", &self.options.owner)
            .field("publisher", &self.publisher)
            .field("under_way", &self.under_way.len())
            .finish_non_exhaustive()
    }
}

fn own_pool(pool: &PgPool) -> PgPool {
    let options = pool.connect_options().as_ref().clone().options([
        // A mark that a crash of the database takes back is a duplicate, which readers absorb.
        ("synchronous_commit", "off"),
        // The planner's idea of a queue's size is always out of date. Every statement here has an
        // index in its own order; with these it is used from the first row to the millionth.
        ("enable_seqscan", "off"),
        ("enable_bitmapscan", "off"),
        ("jit", "off"),
    ]);
    PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(Duration::from_secs(5))
        .test_before_acquire(false)
        .connect_lazy_with(options)
}
