//! The consumer as a service runs it.

use std::{sync::Arc, time::Duration};

use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::{
    runtime::Handle,
    sync::{Semaphore, oneshot, watch},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    ConsumerOptions, Handler,
    assignment::{Context, StartWorker},
    poll::Poller,
    worker::{Shared, Worker},
};
use crate::{Error, error::chain, metrics::Metrics, purge};

/// Beyond the handlers' own time: for the last commit, and for a client that closes slowly.
const STOP_MARGIN: Duration = Duration::from_secs(15);

const RETENTION: Duration = Duration::from_hours(1);

/// Reads topics and hands their messages to a handler.
pub struct Consumer<H> {
    shared: Arc<Shared<H>>,
    health: watch::Sender<Health>,
}

/// Whether the consumer can do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It is a member of its group.
    Ready,
    /// It is not, or cannot reach a broker, for this reason; it keeps trying.
    NotReady(String),
}

impl<H: Handler> Consumer<H> {
    /// A consumer that keeps its dead letters in the database of `pool`. Nothing happens before
    /// [`run`](Self::run).
    pub fn new(options: ConsumerOptions, pool: PgPool, handler: H) -> Self {
        let shared = Arc::new(Shared {
            handler,
            attempts_pool: attempts_pool(&pool),
            pool,
            permits: Semaphore::new(options.concurrency_max.max(1)),
            metrics: Metrics::new(&options.group),
            options,
        });
        let health = watch::Sender::new(Health::NotReady("joining the group".to_owned()));
        Self { shared, health }
    }

    /// Whether the consumer can do its work, now and from now on.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    /// Consumes until `shutdown`; then lets running messages end, commits their offsets and stays a
    /// member, so that a restart under the same name goes on at once. Errors of the broker are
    /// logged and overcome; it ends only by `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), Error> {
        let mut side = JoinSet::new();
        side.spawn(retention(
            self.shared.pool.clone(),
            self.shared.options.keep,
        ));
        let stop = shutdown.child_token();
        // Whoever drops this future must not leave a thread behind that consumes.
        let _stop_on_drop = stop.clone().drop_guard();
        let poller = Poller {
            config: self.shared.options.client_config(),
            options: self.shared.options.clone(),
            shutdown: stop,
            health: self.health.clone(),
            metrics: Metrics::new(&self.shared.options.group),
            context: self.context(),
        };
        let (ended, end) = oneshot::channel();
        std::thread::Builder::new()
            .name("inbox-poll".to_owned())
            .spawn(move || {
                poller.run();
                let _ = ended.send(());
            })
            .map_err(Error::Thread)?;
        tokio::pin!(end);
        tokio::select! {
            ended = &mut end => return ended.map_err(|_| Error::ThreadDied),
            () = shutdown.cancelled() => {}
        }
        let bound = self.shared.options.revoke_timeout * 2 + STOP_MARGIN;
        timeout(bound, end).await.map_or_else(
            |_| {
                tracing::warn!("the Kafka consumer does not stop; it is left behind");
                Ok(())
            },
            |ended| ended.map_err(|_| Error::ThreadDied),
        )
    }

    /// What a fresh client is made with; several in a row if one breaks.
    fn context(&self) -> Box<dyn Fn() -> Context + Send> {
        let (shared, runtime) = (Arc::clone(&self.shared), Handle::current());
        let health = self.health.clone();
        Box::new(move || {
            let (shared, spawner) = (Arc::clone(&shared), runtime.clone());
            let options = shared.options.clone();
            let start_worker: StartWorker = Box::new(move |messages, handled, stop| {
                let worker = Worker::new(Arc::clone(&shared), handled, stop);
                spawner.spawn(worker.run(messages))
            });
            let (revoke_timeout, queue_max) = (options.revoke_timeout, options.queue_max);
            Context::new(
                start_worker,
                runtime.clone(),
                revoke_timeout,
                queue_max,
                health.clone(),
            )
        })
    }
}

impl<H> std::fmt::Debug for Consumer<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consumer")
            .field("options", &self.shared.options)
            .finish_non_exhaustive()
    }
}

fn attempts_pool(pool: &PgPool) -> PgPool {
    let options = pool
        .connect_options()
        .as_ref()
        .clone()
        .options([("synchronous_commit", "off")]);
    PgPoolOptions::new()
        .max_connections(2)
        .test_before_acquire(false)
        .connect_lazy_with(options)
}

async fn retention(pool: PgPool, keep: Duration) {
    loop {
        sleep(RETENTION).await;
        match purge(&pool, keep).await {
            Ok(0) => {}
            Ok(purged) => tracing::info!(purged, "old inbox rows were deleted"),
            Err(error) => tracing::warn!(error = chain(&error), "old inbox rows were not deleted"),
        }
    }
}
