//! Wakes the relay: in this process at once, in others by at most one NOTIFY per 10 ms.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{PgPool, postgres::PgListener};
use tokio::{sync::Notify, time::sleep};

const CHANNEL: &str = "outbox_pending";
/// NOTIFY takes a lock over the whole cluster as it commits: many events share one.
const COALESCE: Duration = Duration::from_millis(10);
const RECONNECT: Duration = Duration::from_secs(1);

/// Tells the relay that something was committed. Cheap to clone, and to call when nothing was.
#[derive(Debug, Clone, Default)]
pub struct Wake {
    local: Arc<Notify>,
    remote: Arc<Notify>,
    /// Set while no other relay is alive: then nobody listens.
    alone: Arc<AtomicBool>,
}

impl Wake {
    /// Call this after the commit of a transaction that called [`enqueue`](crate::enqueue); never
    /// before it, or the relay looks too early and finds the event by polling.
    pub fn notify(&self) {
        self.local.notify_one();
        if !self.alone.load(Ordering::Relaxed) {
            self.remote.notify_one();
        }
    }

    pub(crate) fn set_alone(&self, alone: bool) {
        self.alone.store(alone, Ordering::Relaxed);
    }

    pub(crate) async fn notified(&self) {
        self.local.notified().await;
    }

    /// Passes wake-ups on to other processes, in transactions of its own: a NOTIFY in the writing
    /// transaction would make all writers queue for one lock.
    pub(crate) async fn announce(self, pool: PgPool, owner: String) {
        loop {
            self.remote.notified().await;
            let sent = sqlx::query("SELECT pg_notify($1, $2)")
                .bind(CHANNEL)
                .bind(&owner)
                .execute(&pool)
                .await;
            if let Err(error) = sent {
                tracing::debug!(%error, "other relays were not woken; they find the event by polling");
            }
            sleep(COALESCE).await;
        }
    }

    /// Takes wake-ups of other processes.
    pub(crate) async fn listen(self, pool: PgPool, owner: String) {
        loop {
            let error = match subscribe(&pool).await {
                Ok(mut listener) => loop {
                    match listener.recv().await {
                        Ok(notice) if notice.payload() == owner => {}
                        Ok(_) => self.local.notify_one(),
                        Err(error) => break error,
                    }
                },
                Err(error) => error,
            };
            tracing::debug!(%error, "not woken by other relays; polling goes on");
            sleep(RECONNECT).await;
        }
    }
}

async fn subscribe(pool: &PgPool) -> Result<PgListener, sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}
