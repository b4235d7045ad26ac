//! Watch an order until it has ended. One query per process looks for all streams; each stream gets
//! the latest state, however slowly it reads.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{Stream, stream};
use sqlx::PgPool;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, watch},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{App, Error};
use crate::{
    domain::{OrderId, Snapshot},
    store::{self, Revision, Tracked},
};

/// The bounds of watching.
#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    /// Streams of this process at once, and so the orders that one look reads.
    pub streams_max: usize,
    /// How long a stream may live; then its client opens another.
    pub life_max: Duration,
    /// Between two looks.
    pub look_every: Duration,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            streams_max: 500,
            life_max: Duration::from_mins(30),
            look_every: Duration::from_millis(150),
        }
    }
}

/// All streams of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Watchers {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: WatchOptions,
    places: Arc<Semaphore>,
    /// The orders that somebody watches. The channel keeps the latest state alone.
    watched: Mutex<HashMap<OrderId, watch::Sender<Option<Tracked>>>>,
    somebody: Notify,
    /// Ends all streams.
    ending: CancellationToken,
}

/// One stream's view of an order.
#[derive(Debug)]
pub struct Watch {
    watching: Watching,
    /// What is told first.
    first: Option<Tracked>,
    told: Option<Revision>,
    ends_at: Instant,
    ended: bool,
}

/// A place among the watched; whoever goes last takes the order off the list.
#[derive(Debug)]
struct Watching {
    id: OrderId,
    updates: watch::Receiver<Option<Tracked>>,
    watchers: Watchers,
    _place: OwnedSemaphorePermit,
}

impl App {
    /// The order now, then each change, until it has ended.
    pub async fn watch_order(&self, id: OrderId) -> Result<Watch, Error> {
        // Before the first look: what changes after it is not missed.
        let watching = self.watchers.watch(id)?;
        let found = self
            .owned(move |app| async move {
                let mut conn = app.pool.acquire().await?;
                Ok(store::orders::load(&mut conn, id).await?)
            })
            .await?;
        let first = found.ok_or(Error::OrderNotFound(id))?;
        Ok(Watch {
            ends_at: Instant::now() + self.watchers.inner.options.life_max,
            watching,
            first: Some(first),
            told: None,
            ended: false,
        })
    }
}

impl Watch {
    /// As a stream; dropping it frees its place.
    pub fn into_stream(self) -> impl Stream<Item = Result<Snapshot, Error>> + Send {
        stream::unfold(self, |mut watch| async move {
            let next = watch.next().await?;
            Some((next, watch))
        })
    }

    /// The next state; none once the order, or the stream, has ended.
    pub async fn next(&mut self) -> Option<Result<Snapshot, Error>> {
        if self.ended {
            return None;
        }
        if let Some(first) = self.first.take() {
            return Some(Ok(self.tell(first)));
        }
        let ending = self.watching.watchers.inner.ending.clone();
        loop {
            tokio::select! {
                biased;
                () = ending.cancelled() => return Some(Err(self.interrupted())),
                () = sleep_until(self.ends_at) => return Some(Err(self.interrupted())),
                changed = self.watching.updates.changed() => if changed.is_err() {
                    return Some(Err(self.interrupted()));
                },
            }
            let latest = self.watching.updates.borrow_and_update().clone();
            if let Some(latest) = latest.filter(|latest| Some(latest.revision) > self.told) {
                return Some(Ok(self.tell(latest)));
            }
        }
    }

    fn tell(&mut self, tracked: Tracked) -> Snapshot {
        self.told = Some(tracked.revision);
        self.ended = tracked.snapshot.order.state.has_ended();
        tracked.snapshot
    }

    fn interrupted(&mut self) -> Error {
        self.ended = true;
        Error::WatchInterrupted
    }
}

impl Watchers {
    /// Nobody watches yet. `ending` ends all streams: the process stops.
    pub fn new(options: WatchOptions, ending: CancellationToken) -> Self {
        Self {
            inner: Arc::new(Inner {
                options,
                places: Arc::new(Semaphore::new(options.streams_max)),
                watched: Mutex::default(),
                somebody: Notify::new(),
                ending,
            }),
        }
    }

    /// Streams that are open now.
    pub fn open(&self) -> usize {
        self.inner.options.streams_max - self.inner.places.available_permits()
    }

    fn watch(&self, id: OrderId) -> Result<Watching, Error> {
        let place = Arc::clone(&self.inner.places)
            .try_acquire_owned()
            .map_err(|_full| Error::TooManyWatchers)?;
        let updates = self
            .watched()
            .entry(id)
            .or_insert_with(|| watch::Sender::new(None))
            .subscribe();
        self.inner.somebody.notify_one();
        Ok(Watching {
            id,
            updates,
            watchers: self.clone(),
            _place: place,
        })
    }

    /// The one query for all streams, again and again while somebody watches.
    pub async fn run(self, pool: PgPool, shutdown: CancellationToken) {
        let looking = async {
            loop {
                let ids: Vec<OrderId> = self.watched().keys().copied().collect();
                if ids.is_empty() {
                    self.inner.somebody.notified().await;
                    continue;
                }
                match store::orders::load_many(&pool, &ids).await {
                    Ok(orders) => self.tell(orders),
                    // Streams stay as they are; the next look may succeed.
                    Err(error) => tracing::warn!(%error, "watched orders cannot be read now"),
                }
                sleep(self.inner.options.look_every).await;
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = looking => {}
        }
    }

    fn tell(&self, orders: Vec<Tracked>) {
        let watched = self.watched();
        for order in orders {
            if let Some(updates) = watched.get(&order.snapshot.order.id) {
                updates.send_if_modified(|latest| {
                    let news = latest.as_ref().map(|latest| latest.revision) < Some(order.revision);
                    if news {
                        *latest = Some(order);
                    }
                    news
                });
            }
        }
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<OrderId, watch::Sender<Option<Tracked>>>> {
        let watched = &self.inner.watched;
        watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut watched = self.watchers.watched();
        let ours_alone = |updates: &watch::Sender<_>| updates.receiver_count() <= 1;
        // Nobody can join while the list is locked.
        if watched.get(&self.id).is_some_and(ours_alone) {
            watched.remove(&self.id);
        }
    }
}
