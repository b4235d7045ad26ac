//! Orders and their sagas.

use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize;
use sqlx::{Row as _, postgres::PgRow, types::Json};
use uuid::Uuid;

use super::{
    outbox::{self, Outbox},
    snapshot::Snapshot,
};

/// An order as its service knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its id.
    pub id: Uuid,
    /// `PENDING`, `CONFIRMED`, `CANCELLING`, `CANCELLED`.
    pub state: String,
    /// ISO-4217.
    pub currency: String,
    /// In minor units.
    pub total_minor: i64,
    /// Quantity by SKU.
    pub lines: BTreeMap<String, i64>,
    /// The saga that runs it.
    pub saga_id: Uuid,
    /// Its payment, chosen before it was sent.
    pub payment_id: Uuid,
    /// Its reservation, chosen before it was sent.
    pub reservation_id: Uuid,
    /// The version of its latest event.
    pub version: i64,
    /// Since its last change.
    pub age: Duration,
}

/// A saga.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saga {
    /// Its id.
    pub id: Uuid,
    /// The order it runs.
    pub order_id: Uuid,
    /// `RUNNING`, `COMPENSATING`, `COMPLETED`, `COMPENSATED`, `FAILED`.
    pub status: String,
    /// Why it waits for a person.
    pub stuck_reason: Option<String>,
    /// Where it is.
    pub step: Option<String>,
    /// The outstanding command.
    pub command_id: Option<String>,
    /// Whether it acts by itself some time.
    pub has_timer: bool,
    /// Since its last change.
    pub age: Duration,
}

impl Saga {
    /// Whether it has not ended.
    pub fn is_open(&self) -> bool {
        matches!(self.status.as_str(), "RUNNING" | "COMPENSATING")
    }

    /// Whether a person closed it: such an order is listed, not judged.
    pub fn was_closed_by_a_person(&self) -> bool {
        self.status == "FAILED"
    }
}

pub(super) struct Loaded {
    pub(super) orders: BTreeMap<Uuid, Order>,
    pub(super) sagas: BTreeMap<Uuid, Saga>,
    pub(super) outbox: Outbox,
}

pub(super) async fn load(url: &str) -> sqlx::Result<Loaded> {
    let mut snapshot = Snapshot::open(url).await?;
    let orders = sqlx::query(ORDERS).fetch_all(snapshot.connection()).await?;
    let orders = orders.iter().map(order).collect::<sqlx::Result<Vec<_>>>()?;
    let sagas = sqlx::query(SAGAS).fetch_all(snapshot.connection()).await?;
    let sagas = sagas.iter().map(saga).collect::<sqlx::Result<Vec<_>>>()?;
    let outbox = outbox::load(snapshot.connection(), "order").await?;
    snapshot.close().await?;
    Ok(Loaded {
        orders: orders.into_iter().map(|order| (order.id, order)).collect(),
        sagas: sagas.into_iter().map(|saga| (saga.id, saga)).collect(),
        outbox,
    })
}

const ORDERS: &str = "
    SELECT id, state, currency, total_minor, lines, saga_id, payment_id, reservation_id, version,
           extract(epoch FROM now() - updated_at)::float8 AS age_seconds
      FROM orders";

const SAGAS: &str = "
    SELECT id, subject_id, status, stuck_reason, step, command_id,
           next_action_at IS NOT NULL AS has_timer,
           extract(epoch FROM now() - updated_at)::float8 AS age_seconds
      FROM sagas";

#[derive(Deserialize)]
struct Line {
    sku: String,
    quantity: i64,
}

fn order(row: &PgRow) -> sqlx::Result<Order> {
    let Json(lines): Json<Vec<Line>> = row.try_get("lines")?;
    Ok(Order {
        id: row.try_get("id")?,
        state: row.try_get("state")?,
        currency: row.try_get("currency")?,
        total_minor: row.try_get("total_minor")?,
        lines: lines
            .into_iter()
            .map(|line| (line.sku, line.quantity))
            .collect(),
        saga_id: row.try_get("saga_id")?,
        payment_id: row.try_get("payment_id")?,
        reservation_id: row.try_get("reservation_id")?,
        version: row.try_get("version")?,
        age: age(row)?,
    })
}

fn saga(row: &PgRow) -> sqlx::Result<Saga> {
    Ok(Saga {
        id: row.try_get("id")?,
        order_id: row.try_get("subject_id")?,
        status: row.try_get("status")?,
        stuck_reason: row.try_get("stuck_reason")?,
        step: row.try_get("step")?,
        command_id: row.try_get("command_id")?,
        has_timer: row.try_get("has_timer")?,
        age: age(row)?,
    })
}

/// The column `age_seconds`. Computed by the database, so that clocks are never compared.
pub(super) fn age(row: &PgRow) -> sqlx::Result<Duration> {
    let seconds: f64 = row.try_get("age_seconds")?;
    // Negative after a step of the clock: as young as can be.
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}
