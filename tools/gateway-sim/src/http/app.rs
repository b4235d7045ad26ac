//! What every handler shares.

use std::{sync::Arc, time::Duration};

use axum::http::StatusCode;
use time::OffsetDateTime;
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    answer::Answer,
    call::Call,
    key::{Flight, Flights},
};
use crate::{Settings, store::Store};

#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) store: Store,
    pub(crate) settings: Arc<Settings>,
    /// Changes when a held confirm should look again: released, or its intent cancelled.
    pub(crate) changes: watch::Sender<()>,
    flights: Flights,
    tasks: TaskTracker,
    shutdown: CancellationToken,
}

impl App {
    pub(crate) fn new(store: Store, settings: Settings, shutdown: CancellationToken) -> Self {
        Self {
            store,
            settings: Arc::new(settings),
            changes: watch::Sender::new(()),
            flights: Flights::default(),
            tasks: TaskTracker::new(),
            shutdown,
        }
    }

    /// Runs one POST to its end in a task of its own: a client that goes away changes nothing of
    /// what happens here, as with a real processor. Its key is taken meanwhile.
    pub(crate) async fn run<W, F>(self, call: Call, work: W) -> Answer
    where
        W: FnOnce(Self, Call, Flight) -> F,
        F: Future<Output = Answer> + Send + 'static,
    {
        let Some(flight) = self.flights.enter(call.key.as_deref()) else {
            return Answer::key_in_use();
        };
        let tasks = self.tasks.clone();
        let task = tasks.spawn(work(self, call, flight));
        task.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a request ended in a panic");
            Answer::failed(
                StatusCode::INTERNAL_SERVER_ERROR,
                "The request ended in a bug.",
            )
        })
    }

    /// Keeps the caller waiting for an answer that will not come.
    pub(crate) async fn hang(&self) -> Answer {
        self.sleep(self.settings.hang()).await;
        Answer::failed(
            StatusCode::GATEWAY_TIMEOUT,
            "This card never answers in time.",
        )
    }

    /// Sleeps, but not past a shutdown.
    pub(crate) async fn sleep(&self, duration: Duration) {
        tokio::select! {
            () = tokio::time::sleep(duration) => {}
            () = self.shutdown.cancelled() => {}
        }
    }

    /// Waits until no POST runs any more.
    pub(crate) async fn drained(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// The simulator is the outside world: its clock is its own.
#[allow(
    clippy::disallowed_methods,
    reason = "the processor's own time, compared with no other"
)]
fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

pub(crate) fn now_seconds() -> i64 {
    now().unix_timestamp()
}

pub(crate) fn now_ms() -> i64 {
    i64::try_from(now().unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}
