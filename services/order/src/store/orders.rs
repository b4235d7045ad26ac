//! Table `orders`, read together with where each order's saga stands.

use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Row, postgres::PgRow, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{BoxError, StoreError};
use crate::domain::{
    CancelReason, Currency, CustomerId, NewOrder, Order, OrderId, OrderIds, OrderState,
    PaymentMethod, PricedLine, Progress, Snapshot,
};

/// An order as a client sees it, and how new that view is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked {
    pub snapshot: Snapshot,
    pub revision: Revision,
}

/// Rises with everything that a client can see of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision {
    order_version: i64,
    /// 0 without a saga.
    saga_version: i64,
}

/// The last order of a page; the next page begins after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagePosition {
    /// PostgreSQL keeps microseconds, so nothing is lost.
    created_at_micros: i64,
    id: OrderId,
}

impl PagePosition {
    pub fn of(order: &Order) -> Self {
        let micros = order.created_at.unix_timestamp_nanos() / 1_000;
        Self {
            // The year 294,000 is far enough.
            created_at_micros: i64::try_from(micros).unwrap_or(i64::MAX),
            id: order.id,
        }
    }
}

/// Every read of orders begins with this.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT o.id, o.customer_id, o.state, o.currency, o.total_minor, o.payment_method,
                    o.lines, o.cancel_reason, o.saga_id, o.payment_id, o.reservation_id,
                    o.version, o.created_at, o.updated_at,
                    s.step, s.direction, s.stuck_reason, s.version AS saga_version
               FROM orders o LEFT JOIN sagas s ON s.id = o.saga_id ",
            $rest
        )
    };
}

/// Saves a new order, PENDING, with version 1.
pub async fn insert(
    conn: &mut PgConnection,
    ids: OrderIds,
    order: NewOrder,
) -> Result<Order, StoreError> {
    let row = sqlx::query(
        "INSERT INTO orders (id, customer_id, currency, total_minor, payment_method, lines,
                             saga_id, payment_id, reservation_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         RETURNING version, created_at, updated_at",
    )
    .bind(ids.order.uuid())
    .bind(order.customer_id.as_str())
    .bind(order.total.currency.code())
    .bind(order.total.minor)
    .bind(order.payment_method.as_str())
    .bind(Json(&order.lines))
    .bind(ids.saga.uuid())
    .bind(ids.payment.uuid())
    .bind(ids.reservation.uuid())
    .fetch_one(conn)
    .await?;
    Ok(Order {
        id: ids.order,
        customer_id: order.customer_id,
        state: OrderState::Pending,
        currency: order.total.currency,
        total_minor: order.total.minor,
        payment_method: order.payment_method,
        lines: order.lines,
        cancel_reason: None,
        saga_id: ids.saga,
        payment_id: ids.payment,
        reservation_id: ids.reservation,
        version: row.try_get("version")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}

/// The order as it is now.
pub async fn load(conn: &mut PgConnection, id: OrderId) -> Result<Option<Tracked>, StoreError> {
    let row = sqlx::query(select!("WHERE o.id = $1"))
        .bind(id.uuid())
        .fetch_optional(conn)
        .await?;
    row.as_ref().map(tracked).transpose()
}

/// The order as it is now, its row locked. Its saga must be locked before it.
pub async fn lock(conn: &mut PgConnection, id: OrderId) -> Result<Option<Tracked>, StoreError> {
    let row = sqlx::query(select!("WHERE o.id = $1 FOR UPDATE OF o"))
        .bind(id.uuid())
        .fetch_optional(conn)
        .await?;
    row.as_ref().map(tracked).transpose()
}

/// Those of `ids` that exist, as they are now: the one query of all watchers.
pub async fn load_many(pool: &PgPool, ids: &[OrderId]) -> Result<Vec<Tracked>, StoreError> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    let rows = sqlx::query(select!("WHERE o.id = ANY($1)"))
        .bind(ids)
        .fetch_all(pool)
        .await?;
    rows.iter().map(tracked).collect()
}

/// At most `limit` orders after `after`, newest first. Two statements, because each has its index.
pub async fn list(
    conn: &mut PgConnection,
    customer_id: Option<&CustomerId>,
    after: Option<PagePosition>,
    limit: i64,
) -> Result<Vec<Snapshot>, StoreError> {
    let before = after.and_then(|position| {
        let nanos = i128::from(position.created_at_micros) * 1_000;
        OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()
    });
    let id = after.map_or(Uuid::max(), |position| position.id.uuid());
    let query = match customer_id {
        None => sqlx::query(select!(
            "WHERE (o.created_at, o.id) < (coalesce($1, 'infinity'::timestamptz), $2)
             ORDER BY o.created_at DESC, o.id DESC LIMIT $3"
        )),
        Some(_) => sqlx::query(select!(
            "WHERE (o.created_at, o.id) < (coalesce($1, 'infinity'::timestamptz), $2)
               AND o.customer_id = $4
             ORDER BY o.created_at DESC, o.id DESC LIMIT $3"
        )),
    };
    let query = query.bind(before).bind(id).bind(limit);
    let query = match customer_id {
        None => query,
        Some(customer_id) => query.bind(customer_id.as_str()),
    };
    let rows = query.fetch_all(conn).await?;
    rows.iter().map(|row| Ok(tracked(row)?.snapshot)).collect()
}

/// Which saga runs the order.
pub async fn saga_of(conn: &mut PgConnection, id: OrderId) -> Result<Option<Uuid>, StoreError> {
    let saga_id = sqlx::query_scalar("SELECT saga_id FROM orders WHERE id = $1")
        .bind(id.uuid())
        .fetch_optional(conn)
        .await?;
    Ok(saga_id)
}

/// PENDING becomes CONFIRMED. Answers with the order as it now is; the caller tells its event.
pub async fn confirm(conn: &mut PgConnection, id: OrderId) -> Result<Order, StoreError> {
    let changed = sqlx::query(
        "UPDATE orders SET state = 'CONFIRMED', version = version + 1, updated_at = now()
          WHERE id = $1 AND state = 'PENDING'",
    )
    .bind(id.uuid())
    .execute(&mut *conn)
    .await?
    .rows_affected();
    after_change(conn, id, changed, OrderState::Confirmed).await
}

/// PENDING becomes CANCELLED, for this reason.
pub async fn cancel(
    conn: &mut PgConnection,
    id: OrderId,
    reason: &CancelReason,
) -> Result<Order, StoreError> {
    let changed = sqlx::query(
        "UPDATE orders SET state = 'CANCELLED', cancel_reason = $2, version = version + 1,
                           updated_at = now()
          WHERE id = $1 AND state = 'PENDING'",
    )
    .bind(id.uuid())
    .bind(Json(reason))
    .execute(&mut *conn)
    .await?
    .rows_affected();
    after_change(conn, id, changed, OrderState::Cancelled).await
}

async fn after_change(
    conn: &mut PgConnection,
    id: OrderId,
    changed: u64,
    wanted: OrderState,
) -> Result<Order, StoreError> {
    let order = load(conn, id).await?.map(|tracked| tracked.snapshot.order);
    match order {
        Some(order) if changed == 1 => Ok(order),
        other => Err(StoreError::WrongState {
            id,
            state: other.map(|order| order.state),
            wanted,
        }),
    }
}

fn tracked(row: &PgRow) -> Result<Tracked, StoreError> {
    let id: Uuid = row.try_get("id")?;
    let corrupt = |source| StoreError::Corrupt {
        table: "order",
        id: id.to_string(),
        source,
    };
    let order = order(row).map_err(corrupt)?;
    let progress = progress(row).map_err(corrupt)?;
    let revision = Revision {
        order_version: order.version,
        saga_version: row
            .try_get::<Option<i64>, _>("saga_version")?
            .unwrap_or_default(),
    };
    Ok(Tracked {
        snapshot: Snapshot::new(order, progress.as_ref()),
        revision,
    })
}

fn order(row: &PgRow) -> Result<Order, BoxError> {
    let text = |column| row.try_get::<&str, _>(column);
    let Json(lines) = row.try_get::<Json<Vec<PricedLine>>, _>("lines")?;
    let cancel_reason = row.try_get::<Option<Json<CancelReason>>, _>("cancel_reason")?;
    Ok(Order {
        id: row.try_get::<Uuid, _>("id")?.into(),
        customer_id: CustomerId::parse(text("customer_id")?)?,
        state: OrderState::parse(text("state")?)?,
        currency: Currency::parse(text("currency")?)?,
        total_minor: row.try_get("total_minor")?,
        payment_method: PaymentMethod::parse(text("payment_method")?)?,
        lines,
        cancel_reason: cancel_reason.map(|Json(reason)| reason),
        saga_id: row.try_get::<Uuid, _>("saga_id")?.into(),
        payment_id: row.try_get::<Uuid, _>("payment_id")?.into(),
        reservation_id: row.try_get::<Uuid, _>("reservation_id")?.into(),
        version: row.try_get("version")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}

fn progress(row: &PgRow) -> Result<Option<Progress>, BoxError> {
    let Some(step) = row.try_get::<Option<String>, _>("step")? else {
        return Ok(None);
    };
    Ok(Some(Progress {
        step,
        direction: row.try_get::<&str, _>("direction")?.parse()?,
        stuck_reason: row.try_get("stuck_reason")?,
    }))
}
