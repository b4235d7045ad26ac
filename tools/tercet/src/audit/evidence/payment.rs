//! Payments.

use std::{collections::BTreeMap, time::Duration};

use sqlx::{Row as _, postgres::PgRow};
use uuid::Uuid;

use super::{
    order::age,
    outbox::{self, Guard, Outbox},
    snapshot::Snapshot,
};

/// A payment as its service knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Its id.
    pub id: Uuid,
    /// The order it pays.
    pub order_id: Uuid,
    /// `CHARGING`, `OUTCOME_UNKNOWN`, `CHARGED`, `DECLINED`, `VOIDED`, `REFUNDING`, `REFUNDED`.
    pub state: String,
    /// What was asked for, in minor units.
    pub amount_minor: i64,
    /// ISO-4217.
    pub currency: String,
    /// What was taken.
    pub captured_minor: i64,
    /// What was given back.
    pub refunded_minor: i64,
    /// The version of its latest event; 0 before the first.
    pub version: i64,
    /// Since its last change.
    pub age: Duration,
}

impl Payment {
    /// Whether the processor may still be asked for something.
    pub fn is_open(&self) -> bool {
        matches!(
            self.state.as_str(),
            "CHARGING" | "OUTCOME_UNKNOWN" | "REFUNDING"
        )
    }
}

pub(super) struct Loaded {
    pub(super) payments: BTreeMap<Uuid, Payment>,
    pub(super) outbox: Outbox,
    pub(super) guards: Vec<Guard>,
}

pub(super) async fn load(url: &str) -> sqlx::Result<Loaded> {
    let mut snapshot = Snapshot::open(url).await?;
    let payments = sqlx::query(PAYMENTS)
        .fetch_all(snapshot.connection())
        .await?;
    let payments = payments
        .iter()
        .map(payment)
        .collect::<sqlx::Result<Vec<_>>>()?;
    let outbox = outbox::load(snapshot.connection(), "payment").await?;
    let guards = outbox::guards(snapshot.connection(), "payment").await?;
    snapshot.close().await?;
    Ok(Loaded {
        payments: payments
            .into_iter()
            .map(|payment| (payment.id, payment))
            .collect(),
        outbox,
        guards,
    })
}

const PAYMENTS: &str = "
    SELECT payment_id, order_id, status, amount_minor, currency, captured_minor, refunded_minor, version,
           extract(epoch FROM now() - updated_at)::float8 AS age_seconds
      FROM payments";

fn payment(row: &PgRow) -> sqlx::Result<Payment> {
    Ok(Payment {
        id: row.try_get("payment_id")?,
        order_id: row.try_get("order_id")?,
        state: row.try_get("status")?,
        amount_minor: row.try_get("amount_minor")?,
        currency: row.try_get("currency")?,
        captured_minor: row.try_get("captured_minor")?,
        refunded_minor: row.try_get("refunded_minor")?,
        version: row.try_get("version")?,
        age: age(row)?,
    })
}
