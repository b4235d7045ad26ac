//! The order service's database: the order, its saga, and what of it was told.

use sqlx::{PgConnection, Row as _, postgres::PgRow};
use uuid::Uuid;

use super::{
    Query,
    board::{Board, Place, Subject},
    events, locks, lookup,
    session::{self, Session, maybe_when, told, when},
};
use crate::why::facts::{Order, OrderSide, Parked, Saga};

/// Reads it.
pub(super) async fn side(url: &str, query: Query<'_>, board: &Board) -> Result<OrderSide, String> {
    let mut connection = match session::open(url).await? {
        Session::Open(connection) => connection,
        Session::Locked(locks) => {
            return Ok(OrderSide {
                locks,
                ..OrderSide::default()
            });
        }
    };
    let read = async {
        let Some(subject) = lookup::find(&mut connection, query, board).await? else {
            board.tell(Place::Order, None);
            return Ok(OrderSide::default());
        };
        board.tell(Place::Order, Some(subject.clone()));
        read(&mut connection, &subject).await
    };
    read.await.map_err(|error: sqlx::Error| told(&error))
}

const LOCKED: &str = "
    SELECT 'sagas', id::text, sagas.xmax FROM given JOIN sagas ON id = first
     UNION ALL
    SELECT 'orders', id::text, orders.xmax FROM given JOIN orders ON id = second";

async fn read(connection: &mut PgConnection, subject: &Subject) -> sqlx::Result<OrderSide> {
    let order = sqlx::query(ORDER)
        .bind(subject.order_id)
        .fetch_optional(&mut *connection)
        .await?;
    let saga = sqlx::query(SAGA)
        .bind(subject.order_id)
        .fetch_optional(&mut *connection)
        .await?;
    let stuck_detail: Option<String> = sqlx::query_scalar(STUCK)
        .bind(subject.saga_id)
        .fetch_optional(&mut *connection)
        .await?;
    let aggregates = [subject.payment_id, subject.reservation_id];
    let keys: Vec<String> = aggregates.iter().flatten().map(Uuid::to_string).collect();
    let parked = sqlx::query(PARKED)
        .bind(keys)
        .fetch_all(&mut *connection)
        .await?;
    let outbox = events::of_aggregate(connection, "order", Some(subject.order_id)).await?;
    let ids = [subject.saga_id, Some(subject.order_id)];
    Ok(OrderSide {
        order: order.as_ref().map(order_of).transpose()?,
        saga: saga.as_ref().map(saga_of).transpose()?,
        stuck_detail,
        parked: parked.iter().map(parked_of).collect::<sqlx::Result<_>>()?,
        outbox,
        locks: locks::of_rows(connection, LOCKED, ids, &[]).await?,
    })
}

const ORDER: &str = "
    SELECT id, state, total_minor, currency, cancel_reason->>'reason' AS reason,
           cancel_reason->>'message' AS message, saga_id, payment_id, reservation_id, created_at,
           updated_at, now() AS now
      FROM orders WHERE id = $1";

const SAGA: &str = "
    SELECT id, status, stuck_reason, step, direction, command_id, wait, waiting_reason, attempt, asks,
           failure->>'reason' AS failure_reason, step_since, next_action_at, now() AS now
      FROM sagas WHERE subject_id = $1 ORDER BY started_at DESC LIMIT 1";

const STUCK: &str = "
    SELECT detail FROM saga_log WHERE saga_id = $1 AND entry = 'STUCK' ORDER BY seq DESC LIMIT 1";

// Few by nature, and old ones matter to nobody who asks about an order now.
const PARKED: &str = "
    SELECT message_id, topic, error, parked_at, now() AS now
      FROM (SELECT * FROM dead_letters ORDER BY id DESC LIMIT 1000) AS latest
     WHERE key = ANY ($1) AND redriven_at IS NULL";

fn order_of(row: &PgRow) -> sqlx::Result<Order> {
    Ok(Order {
        id: row.try_get("id")?,
        state: row.try_get("state")?,
        total_minor: row.try_get("total_minor")?,
        currency: row.try_get("currency")?,
        cancel_reason: row.try_get("reason")?,
        cancel_message: row.try_get("message")?,
        placed: when(row, "created_at")?,
        changed: when(row, "updated_at")?,
        saga_id: row.try_get("saga_id")?,
        payment_id: row.try_get("payment_id")?,
        reservation_id: row.try_get("reservation_id")?,
    })
}

fn saga_of(row: &PgRow) -> sqlx::Result<Saga> {
    Ok(Saga {
        id: row.try_get("id")?,
        status: row.try_get("status")?,
        stuck_reason: row.try_get("stuck_reason")?,
        step: row.try_get("step")?,
        direction: row.try_get("direction")?,
        command_id: row.try_get("command_id")?,
        wait: row.try_get("wait")?,
        waiting_reason: row.try_get("waiting_reason")?,
        attempt: row.try_get("attempt")?,
        asks: row.try_get("asks")?,
        failure_reason: row.try_get("failure_reason")?,
        step_since: when(row, "step_since")?,
        next_action: maybe_when(row, "next_action_at")?,
    })
}

fn parked_of(row: &PgRow) -> sqlx::Result<Parked> {
    Ok(Parked {
        event_id: row.try_get("message_id")?,
        topic: row.try_get("topic")?,
        error: row.try_get("error")?,
        parked: when(row, "parked_at")?,
    })
}
