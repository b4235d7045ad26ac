//! Stock, its journal, and reservations.

use std::{collections::BTreeMap, time::Duration};

use sqlx::{Row as _, postgres::PgRow, types::Json};
use uuid::Uuid;

use super::{
    order::age,
    outbox::{self, Guard, Outbox},
    snapshot::Snapshot,
};

/// A reservation as its service knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Its id.
    pub id: Uuid,
    /// The order it is for.
    pub order_id: Uuid,
    /// `PENDING`, `COMMITTED`, `RELEASED`, `EXPIRED`, `REFUSED`, `RETURNED`.
    pub state: String,
    /// Quantity by SKU.
    pub lines: BTreeMap<String, i64>,
    /// For how long it has been over; zero if it is not.
    pub overdue: Duration,
    /// The version of its latest event.
    pub version: i64,
    /// Since its last change.
    pub age: Duration,
}

/// The stock of one SKU, beside what it should be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stock {
    /// Goods in the house.
    pub on_hand: i64,
    /// Held goods.
    pub reserved: i64,
    /// The sum of the journal.
    pub journal_on_hand: i64,
    /// The sum of the journal.
    pub journal_reserved: i64,
    /// The sum of the pending reservations.
    pub pending: i64,
}

pub(super) struct Loaded {
    pub(super) reservations: BTreeMap<Uuid, Reservation>,
    pub(super) stock: BTreeMap<String, Stock>,
    pub(super) outbox: Outbox,
    pub(super) guards: Vec<Guard>,
}

pub(super) async fn load(url: &str) -> sqlx::Result<Loaded> {
    let mut snapshot = Snapshot::open(url).await?;
    let reservations = sqlx::query(RESERVATIONS)
        .fetch_all(snapshot.connection())
        .await?;
    let reservations = reservations
        .iter()
        .map(reservation)
        .collect::<sqlx::Result<Vec<_>>>()?;
    let stock = sqlx::query(STOCK).fetch_all(snapshot.connection()).await?;
    let stock = stock
        .iter()
        .map(stock_of)
        .collect::<sqlx::Result<BTreeMap<_, _>>>()?;
    let outbox = outbox::load(snapshot.connection(), "inventory").await?;
    let guards = outbox::guards(snapshot.connection(), "inventory").await?;
    snapshot.close().await?;
    Ok(Loaded {
        reservations: reservations
            .into_iter()
            .map(|hold| (hold.id, hold))
            .collect(),
        stock,
        outbox,
        guards,
    })
}

const RESERVATIONS: &str = "
    SELECT r.id, r.order_id, r.state, r.version,
           coalesce((SELECT jsonb_object_agg(l.sku, l.quantity)
                       FROM reservation_lines l WHERE l.reservation_id = r.id), '{}') AS lines,
           greatest(coalesce(extract(epoch FROM now() - r.expires_at), 0), 0)::float8
               AS overdue_seconds,
           extract(epoch FROM now() - r.updated_at)::float8 AS age_seconds
      FROM reservations r";

// A full join: a movement of a SKU that has no stock row, or the reverse, must show up.
const STOCK: &str = "
    SELECT coalesce(s.sku, j.sku, h.sku) AS sku,
           coalesce(s.on_hand, 0) AS on_hand, coalesce(s.reserved, 0) AS reserved,
           coalesce(j.on_hand, 0) AS journal_on_hand, coalesce(j.reserved, 0) AS journal_reserved,
           coalesce(h.held, 0) AS pending
      FROM stock s
      FULL JOIN (SELECT sku, sum(on_hand_delta)::bigint AS on_hand,
                        sum(reserved_delta)::bigint AS reserved
                   FROM stock_journal GROUP BY sku) j ON j.sku = s.sku
      FULL JOIN (SELECT l.sku, sum(l.quantity)::bigint AS held
                   FROM reservation_lines l JOIN reservations r ON r.id = l.reservation_id
                  WHERE r.state = 'PENDING' GROUP BY l.sku) h ON h.sku = coalesce(s.sku, j.sku)";

fn reservation(row: &PgRow) -> sqlx::Result<Reservation> {
    let Json(lines) = row.try_get("lines")?;
    let overdue: f64 = row.try_get("overdue_seconds")?;
    Ok(Reservation {
        id: row.try_get("id")?,
        order_id: row.try_get("order_id")?,
        state: row.try_get("state")?,
        lines,
        overdue: Duration::try_from_secs_f64(overdue).unwrap_or_default(),
        version: row.try_get("version")?,
        age: age(row)?,
    })
}

fn stock_of(row: &PgRow) -> sqlx::Result<(String, Stock)> {
    let stock = Stock {
        on_hand: row.try_get("on_hand")?,
        reserved: row.try_get("reserved")?,
        journal_on_hand: row.try_get("journal_on_hand")?,
        journal_reserved: row.try_get("journal_reserved")?,
        pending: row.try_get("pending")?,
    };
    Ok((row.try_get("sku")?, stock))
}
