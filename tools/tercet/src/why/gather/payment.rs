//! The payment service's database: the payment, and what was asked of the processor.

use sqlx::{PgConnection, Row as _, postgres::PgRow};

use super::{
    Query,
    board::{Board, Place, Subject},
    events, locks,
    session::{self, Session, maybe_when, told, when},
};
use crate::why::{
    facts::{GatewayCall, Payment, PaymentSide},
    id::{Asked, Kind},
};

/// Reads it.
pub(super) async fn side(
    url: &str,
    query: Query<'_>,
    board: &Board,
) -> Result<PaymentSide, String> {
    let mut connection = match session::open(url).await? {
        Session::Open(connection) => connection,
        Session::Locked(locks) => {
            return Ok(PaymentSide {
                locks,
                ..PaymentSide::default()
            });
        }
    };
    let read = async {
        let found = find(&mut connection, query).await?;
        board.tell(Place::Payment, found);
        match board.subject().await {
            Some(subject) => read(&mut connection, &subject).await,
            None => Ok(PaymentSide::default()),
        }
    };
    read.await.map_err(|error: sqlx::Error| told(&error))
}

const BY_ID: &str = "SELECT order_id, charge_saga_id FROM payments WHERE payment_id = $1";

async fn find(connection: &mut PgConnection, query: Query<'_>) -> sqlx::Result<Option<Subject>> {
    let Asked::Uuid(id, kind) = query.asked else {
        return Ok(None);
    };
    let row = sqlx::query(BY_ID)
        .bind(id)
        .fetch_optional(&mut *connection)
        .await?;
    match (row, kind) {
        (Some(row), _) => Ok(Some(Subject {
            saga_id: row.try_get("charge_saga_id")?,
            payment_id: Some(*id),
            ..Subject::new(Kind::Payment, row.try_get("order_id")?)
        })),
        (None, None | Some(Kind::Event)) => events::by_id(connection, *id).await,
        (None, Some(_)) => Ok(None),
    }
}

const PAYMENT: &str = "
    SELECT payment_id, status, amount_minor, currency, captured_minor, refunded_minor, attempts,
           next_attempt_at, updated_at, now() AS now
      FROM payments WHERE payment_id = $1";

const CALLS: &str = "
    SELECT operation, result, detail, recorded_at, now() AS now
      FROM gateway_attempts WHERE payment_id = $1 ORDER BY id DESC LIMIT 12";

const LOCKED: &str = "
    SELECT 'payments', payment_id::text, payments.xmax FROM given JOIN payments ON payment_id = first
     UNION ALL
    SELECT 'command_guards', step || ' ' || lower(direction), command_guards.xmax
      FROM given JOIN command_guards ON saga_id = second";

async fn read(connection: &mut PgConnection, subject: &Subject) -> sqlx::Result<PaymentSide> {
    let payment = sqlx::query(PAYMENT)
        .bind(subject.payment_id)
        .fetch_optional(&mut *connection)
        .await?;
    let calls = sqlx::query(CALLS)
        .bind(subject.payment_id)
        .fetch_all(&mut *connection)
        .await?;
    let guards = events::guards(connection, subject.saga_id).await?;
    let outbox = events::of_aggregate(connection, "payment", subject.payment_id).await?;
    let ids = [subject.payment_id, subject.saga_id];
    Ok(PaymentSide {
        payment: payment.as_ref().map(payment_of).transpose()?,
        calls: calls.iter().map(call_of).collect::<sqlx::Result<_>>()?,
        guards,
        outbox,
        locks: locks::of_rows(connection, LOCKED, ids, &[]).await?,
    })
}

fn payment_of(row: &PgRow) -> sqlx::Result<Payment> {
    Ok(Payment {
        id: row.try_get("payment_id")?,
        status: row.try_get("status")?,
        amount_minor: row.try_get("amount_minor")?,
        currency: row.try_get("currency")?,
        captured_minor: row.try_get("captured_minor")?,
        refunded_minor: row.try_get("refunded_minor")?,
        attempts: row.try_get("attempts")?,
        next_attempt: maybe_when(row, "next_attempt_at")?,
        changed: when(row, "updated_at")?,
    })
}

fn call_of(row: &PgRow) -> sqlx::Result<GatewayCall> {
    Ok(GatewayCall {
        operation: row.try_get("operation")?,
        result: row.try_get("result")?,
        detail: row.try_get("detail")?,
        ended: when(row, "recorded_at")?,
    })
}
