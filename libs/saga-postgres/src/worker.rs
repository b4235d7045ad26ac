//! The loop: commands as they are queued, timers and lost sagas as their time comes.

use std::{sync::Arc, time::Duration};

use tercet_saga::Saga;
use tokio::{
    sync::Semaphore,
    time::{Interval, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use crate::{engine::Engine, error::Error, feed::chain, participants::Participants};

/// After the database could not be asked.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);

impl<S: Saga, P: Participants<S>> Engine<S, P> {
    /// Sends commands, fires timers and takes over lost sagas until `shutdown`; then finishes what is
    /// at work. Commands still queued by then are sent by their timers, here or elsewhere.
    pub async fn run(&self, shutdown: CancellationToken) {
        let options = &self.inner.options;
        let senders = self.send_queued(&shutdown);
        // Both looks in tasks of their own: shutdown ends them between two transactions, never in one.
        let timers = repeat(&shutdown, options.timer_interval, || async {
            let (engine, until) = (self.clone(), shutdown.clone());
            let fired = self.owned(async move { engine.fire_timers(&until).await });
            fired.await.map(drop)
        });
        let resume = repeat(&shutdown, options.resume_interval, || async {
            let (engine, until) = (self.clone(), shutdown.clone());
            let resumed = self
                .owned(async move { engine.resume_lost(&until).await })
                .await?;
            if resumed > 0 {
                tracing::warn!(resumed, "took over sagas that nobody minded");
            }
            Ok(())
        });
        tokio::join!(senders, timers, resume);
        self.inner.work.close();
        self.inner.work.wait().await;
    }

    async fn send_queued(&self, shutdown: &CancellationToken) {
        let places = Arc::new(Semaphore::new(self.inner.options.sends_max.max(1)));
        let mut queued = self.inner.queued.lock().await;
        loop {
            let next = async {
                let place = Arc::clone(&places).acquire_owned().await.ok()?;
                Some((place, queued.recv().await?))
            };
            let next = tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                next = next => next,
            };
            let Some((place, command)) = next else { return };
            let engine = self.clone();
            self.inner.work.spawn(async move {
                engine.send(command).await;
                drop(place);
            });
        }
    }
}

async fn repeat<F>(shutdown: &CancellationToken, every: Duration, mut work: impl FnMut() -> F)
where
    F: Future<Output = Result<(), Error>>,
{
    let mut ticks: Interval = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = work().await {
            tracing::warn!(error = %chain(&error), "the sagas' rows cannot be read now");
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(PAUSE_AFTER_FAILURE) => {}
            }
        }
    }
}
