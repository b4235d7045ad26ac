//! Whose an id is, in the order service's database: only this one knows all ids of an order.

use serde::Deserialize;
use sqlx::{PgConnection, Row as _, types::Json};
use time::Duration;
use uuid::Uuid;

use super::{
    Query,
    board::{Board, Subject},
    events,
};
use crate::why::id::{Asked, Kind};

/// By what is here, else by what a participant makes of the id.
pub(super) async fn find(
    connection: &mut PgConnection,
    query: Query<'_>,
    board: &Board,
) -> sqlx::Result<Option<Subject>> {
    if let Some((kind, order_id)) = own(connection, query).await? {
        return ids(connection, Subject::new(kind, order_id)).await;
    }
    if let Asked::Uuid(id, None | Some(Kind::Event)) = query.asked
        && let Some(subject) = events::by_id(connection, *id).await?
    {
        return ids(connection, subject).await;
    }
    match board.hint().await {
        Some(hint) => ids(connection, hint).await,
        None => Ok(None),
    }
}

// Payments and reservations got their ids with their order, and no index leads back from them: a few
// seconds of orders are read.
const BY_ID: &str = "
    SELECT 'order' AS kind, id FROM orders WHERE id = $1
     UNION ALL
    SELECT 'saga', subject_id FROM sagas WHERE id = $1
     UNION ALL
    SELECT CASE WHEN payment_id = $1 THEN 'payment' ELSE 'reservation' END, id FROM orders
     WHERE created_at BETWEEN $2 AND $3 AND (payment_id = $1 OR reservation_id = $1)
     LIMIT 1";

const KEYS: &str = "
    SELECT response FROM idempotency_keys
     WHERE tenant = 'default' AND method IN ('PlaceOrder', 'CancelOrder') AND key = $1
     ORDER BY created_at LIMIT 1";

/// Clocks of a service and of its database are closer than this.
const CLOCKS_APART_MAX: Duration = Duration::seconds(10);

async fn own(
    connection: &mut PgConnection,
    query: Query<'_>,
) -> sqlx::Result<Option<(Kind, Uuid)>> {
    let (id, wanted) = match query.asked {
        Asked::Command(saga_id) => (*saga_id, Some(Kind::Command)),
        Asked::Uuid(id, kind) => (*id, *kind),
        Asked::Key => return by_key(connection, query.text).await,
    };
    let made = events::made(id);
    let row = sqlx::query(BY_ID)
        .bind(id)
        .bind(made.map(|made| made - CLOCKS_APART_MAX))
        .bind(made.map(|made| made + CLOCKS_APART_MAX))
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else {
        // Whoever calls may use UUIDs as keys.
        return by_key(connection, query.text).await;
    };
    let kind = match row.try_get("kind")? {
        "saga" => wanted.unwrap_or(Kind::Saga),
        "payment" => Kind::Payment,
        "reservation" => Kind::Reservation,
        _ => Kind::Order,
    };
    Ok(Some((kind, row.try_get("id")?)))
}

/// Of the answer that is kept under a key, what matters here.
#[derive(Deserialize)]
struct KeptAnswer {
    order: KeptOrder,
}

#[derive(Deserialize)]
struct KeptOrder {
    id: Uuid,
}

async fn by_key(connection: &mut PgConnection, key: &str) -> sqlx::Result<Option<(Kind, Uuid)>> {
    let stored: Option<Option<Vec<u8>>> = sqlx::query_scalar(KEYS)
        .bind(key)
        .fetch_optional(connection)
        .await?;
    // Another library's answer, or none yet: then it is no key of an order.
    let answer: Option<KeptAnswer> = stored
        .flatten()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(answer.map(|answer| (Kind::Key, answer.order.id)))
}

const IDS: &str = "SELECT saga_id, payment_id, reservation_id, lines FROM orders WHERE id = $1";

#[derive(Deserialize)]
struct Line {
    sku: String,
}

/// All ids of the subject's order.
async fn ids(connection: &mut PgConnection, subject: Subject) -> sqlx::Result<Option<Subject>> {
    let row = sqlx::query(IDS)
        .bind(subject.order_id)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let Json(lines): Json<Vec<Line>> = row.try_get("lines")?;
    Ok(Some(Subject {
        saga_id: row.try_get("saga_id")?,
        payment_id: row.try_get("payment_id")?,
        reservation_id: row.try_get("reservation_id")?,
        skus: lines.into_iter().map(|line| line.sku).collect(),
        ..subject
    }))
}
