//! List sagas, and show one with its timeline: for the people who run the system.

use serde::{Deserialize, Serialize};
use tercet_saga::Status;
use tercet_saga_postgres::admin::{self, Filter, LogLine, SagaView};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{App, Error, list_orders::cut};

/// A saga that waits for days asks again every 30 s; nobody reads more than this.
const LOG_LINES_MAX: i64 = 1_000;

/// What is asked.
#[derive(Clone, Debug)]
pub struct ListSagas {
    pub status: Option<Status>,
    pub stuck_only: bool,
    pub after: Option<SagaPosition>,
    pub page_size: u32,
}

/// The last saga of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SagaPosition {
    #[serde(with = "time::serde::rfc3339")]
    started_at: OffsetDateTime,
    id: Uuid,
}

/// Some of them.
#[derive(Clone, Debug)]
pub struct SagaPage {
    pub sagas: Vec<SagaView>,
    /// Where the next page begins; none at the end.
    pub next: Option<SagaPosition>,
}

/// One saga and what happened to it.
#[derive(Clone, Debug)]
pub struct SagaTimeline {
    pub saga: SagaView,
    /// Oldest first.
    pub log: Vec<LogLine>,
}

impl App {
    pub async fn list_sagas(&self, request: ListSagas) -> Result<SagaPage, Error> {
        self.owned(|app| async move {
            let mut conn = app.pool.acquire().await?;
            let filter = Filter {
                status: request.status,
                stuck_only: request.stuck_only,
                after: request.after.map(|after| (after.started_at, after.id)),
            };
            let limit = i64::from(request.page_size) + 1;
            let sagas = admin::list(&mut conn, &filter, limit).await?;
            let (sagas, more) = cut(sagas, request.page_size);
            let last = sagas.last().filter(|_| more);
            let position = |saga: &SagaView| SagaPosition {
                started_at: saga.started_at,
                id: saga.saga_id,
            };
            Ok(SagaPage {
                next: last.map(position),
                sagas,
            })
        })
        .await
    }

    /// By its own id or by its order's.
    pub async fn get_saga(&self, id: Uuid) -> Result<SagaTimeline, Error> {
        self.owned(move |app| async move {
            let mut conn = app.pool.acquire().await?;
            let found = admin::find(&mut conn, id).await?;
            let saga = found.ok_or(Error::SagaNotFound(id))?;
            let log = admin::log(&mut conn, saga.saga_id, LOG_LINES_MAX).await?;
            Ok(SagaTimeline { saga, log })
        })
        .await
    }
}
