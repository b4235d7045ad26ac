//! The sweeper: holds whose time is over give their stock back. Only it expires a hold; until it
//! comes, a late commit still sells what is held.

use std::time::Duration;

use tercet_service_kit::owned;
use tokio_util::sync::CancellationToken;

use super::{App, Error};
use crate::{
    domain::{Fact, Movement, ReservationEvent, State},
    store::{outbox, reservations},
};

/// Holds expired in one transaction.
const BATCH_MAX: i64 = 50;

impl App {
    /// Expires one batch, and tells how many holds were in it.
    pub async fn expire_reservations(&self) -> Result<usize, Error> {
        let app = self.clone();
        owned(async move {
            let mut tx = app.inner.pool.begin().await?;
            let expired = app.expire_batch(&mut tx).await;
            app.close(tx, expired).await
        })
        .await?
    }

    async fn expire_batch(&self, conn: &mut sqlx::PgConnection) -> Result<usize, Error> {
        let claimed = reservations::claim_expired(conn, BATCH_MAX).await?;
        for (id, order_id) in &claimed {
            let (state, movement) = (State::Expired, Movement::Expired);
            let Some(version) = reservations::end_hold(conn, *id, state, movement).await? else {
                continue;
            };
            let event = ReservationEvent {
                reservation_id: *id,
                order_id: *order_id,
                version,
                fact: Fact::Expired,
            };
            outbox::tell(conn, &self.inner.topic, &event).await?;
        }
        Ok(claimed.len())
    }
}

/// Sweeps every `interval` until `shutdown`; at once again after a full batch.
pub async fn sweep(app: App, interval: Duration, shutdown: CancellationToken) {
    let full = usize::try_from(BATCH_MAX).unwrap_or(usize::MAX);
    loop {
        let pause = match app.expire_reservations().await {
            Ok(expired) if expired >= full => Duration::ZERO,
            Ok(_) => interval,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the sweep failed");
                interval
            }
        };
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}
