//! Payments: the row, its lease, and the one guarded update that changes its state.

use std::{collections::BTreeMap, time::Duration};

use sqlx::{PgConnection, Row as _, postgres::PgRow, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{
        CommandRef, Currency, Money, OrderId, Payment, PaymentId, PaymentMethod, Reason, Status,
    },
    store::StoreError,
};

/// A payment with what its worker needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub payment: Payment,
    /// `None` for a tombstone.
    pub payment_method: Option<PaymentMethod>,
    /// `None` for a tombstone.
    pub charge: Option<CommandRef>,
    /// The undo that waits or is being done.
    pub undo: Option<CommandRef>,
    /// Of the command that asked last.
    pub trace_context: BTreeMap<String, String>,
    /// Claims in this phase, this one included.
    pub attempts: i32,
    /// The key of the create is so old that the processor may have forgotten it.
    pub create_key_is_old: bool,
    /// Old enough that the processor's search index has caught up.
    pub search_is_settled: bool,
}

/// A payment about to be charged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPayment {
    pub id: PaymentId,
    pub order_id: OrderId,
    pub amount: Money,
    pub payment_method: PaymentMethod,
    pub charge: CommandRef,
}

/// Who works on a payment, and until when nobody else does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub owner: String,
    pub length: Duration,
}

/// What becomes of open work after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The caller goes on with it, under its lease.
    Mine,
    /// Anyone, after this pause.
    Later(Duration),
    /// Nothing is left to do.
    Closed,
}

/// What was decided about a payment.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// The status it was decided on.
    pub from: Status,
    pub after: &'a Payment,
    pub undo: Option<&'a CommandRef>,
    pub work: Work,
    /// Of the command that asks for it; `None` for a worker, who goes on in the one there is.
    pub trace_context: Option<&'a BTreeMap<String, String>>,
}

// The processor keeps a key for 24 hours at least. An hour's margin is more than any call lasts.
macro_rules! columns {
    () => {
        "payment_id, order_id, status, amount_minor, currency, captured_minor, refunded_minor,
         payment_method, decline_reason, gateway_intent_id, version, told_reason,
         charge_saga_id, charge_step, charge_command_id,
         refund_saga_id, refund_step, refund_command_id, trace_context, attempts,
         created_at, updated_at,
         created_at < now() - interval '23 hours' AS create_key_is_old,
         created_at < now() - interval '10 minutes' AS search_is_settled"
    };
}

/// Opens a charge, leased from the start: the caller's process goes on with it after the commit, and
/// if that dies, whoever claims it when the lease is over.
pub async fn open(
    conn: &mut PgConnection,
    new: &NewPayment,
    lease: &Lease,
    trace_context: &BTreeMap<String, String>,
) -> Result<Record, StoreError> {
    let inserted = sqlx::query(concat!(
        "INSERT INTO payments (payment_id, order_id, status, amount_minor, currency,
             payment_method, version, charge_saga_id, charge_step, charge_command_id,
             trace_context, next_attempt_at, attempts, lease_owner, lease_until)
         VALUES ($1, $2, 'CHARGING', $3, $4, $5, 0, $6, $7, $8, $9, now(), 1, $10,
                 now() + make_interval(secs => $11))
         RETURNING ",
        columns!()
    ))
    .bind(new.id.uuid())
    .bind(new.order_id.uuid())
    .bind(new.amount.minor())
    .bind(new.amount.currency().code())
    .bind(new.payment_method.as_str())
    .bind(new.charge.saga_id)
    .bind(&new.charge.step)
    .bind(&new.charge.command_id)
    .bind(Json(trace_context))
    .bind(&lease.owner)
    .bind(lease.length.as_secs_f64())
    .fetch_one(conn)
    .await;
    match inserted {
        Ok(row) => record(&row),
        Err(sqlx::Error::Database(error)) if error.constraint() == Some("payments_pkey") => {
            Err(StoreError::PaymentExists(new.id))
        }
        Err(error) => Err(error.into()),
    }
}

/// A VOIDED payment that never asked for anything: its undo came first. The version is 1.
pub async fn insert_tombstone(
    conn: &mut PgConnection,
    id: PaymentId,
    order_id: OrderId,
    amount: Money,
) -> Result<(), StoreError> {
    let inserted = sqlx::query(
        "INSERT INTO payments (payment_id, order_id, status, amount_minor, currency, version)
         VALUES ($1, $2, 'VOIDED', $3, $4, 1)",
    )
    .bind(id.uuid())
    .bind(order_id.uuid())
    .bind(amount.minor())
    .bind(amount.currency().code())
    .execute(conn)
    .await;
    match inserted {
        Ok(_) => Ok(()),
        Err(sqlx::Error::Database(error)) if error.constraint() == Some("payments_pkey") => {
            Err(StoreError::PaymentExists(id))
        }
        Err(error) => Err(error.into()),
    }
}

/// The payment, locked. The guards of its command are locked first, by whoever may decide it.
pub async fn lock(conn: &mut PgConnection, id: PaymentId) -> Result<Option<Record>, StoreError> {
    let row = sqlx::query(concat!(
        "SELECT ",
        columns!(),
        " FROM payments WHERE payment_id = $1 FOR UPDATE"
    ))
    .bind(id.uuid())
    .fetch_optional(conn)
    .await?;
    row.as_ref().map(record).transpose()
}

/// The payment as it is.
pub async fn find(conn: &mut PgConnection, id: PaymentId) -> Result<Option<Record>, StoreError> {
    let row = sqlx::query(concat!(
        "SELECT ",
        columns!(),
        " FROM payments WHERE payment_id = $1"
    ))
    .bind(id.uuid())
    .fetch_optional(conn)
    .await?;
    row.as_ref().map(record).transpose()
}

/// Where a page of the list ends.
pub type Position = (OffsetDateTime, Uuid);

/// Newest first, those after `after`, at most `limit`.
pub async fn list(
    conn: &mut PgConnection,
    status: Option<Status>,
    after: Option<Position>,
    limit: i64,
) -> Result<Vec<Payment>, StoreError> {
    let rows = sqlx::query(concat!(
        "SELECT ",
        columns!(),
        " FROM payments
          WHERE ($1::text IS NULL OR status = $1)
            AND ($2::timestamptz IS NULL OR (created_at, payment_id) < ($2, $3))
          ORDER BY created_at DESC, payment_id DESC LIMIT $4"
    ))
    .bind(status.map(Status::as_str))
    .bind(after.map(|(created_at, _)| created_at))
    .bind(after.map(|(_, id)| id))
    .bind(limit)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| record(row).map(|record| record.payment))
        .collect()
}

/// Makes a change. The guard by (id, status) is the net under the lock: two workers cannot both make
/// one transition.
pub async fn update(
    conn: &mut PgConnection,
    change: Change<'_>,
    lease: &Lease,
) -> Result<Record, StoreError> {
    let Change {
        from, after, undo, ..
    } = change;
    let (keeps_lease, pause) = match change.work {
        Work::Mine => (true, Duration::ZERO),
        Work::Later(pause) => (false, pause),
        Work::Closed => (false, Duration::ZERO),
    };
    let row = sqlx::query(concat!(
        "UPDATE payments
            SET status = $3, captured_minor = $4, refunded_minor = $5, decline_reason = $6,
                gateway_intent_id = $7, version = $8, told_reason = $9,
                refund_saga_id = $10, refund_step = $11, refund_command_id = $12,
                next_attempt_at = CASE WHEN $13 THEN now() + make_interval(secs => $14) END,
                attempts = CASE WHEN $2 <> $3 AND $3 = 'REFUNDING' THEN 1
                                WHEN $15 THEN attempts + 1 ELSE attempts END,
                lease_owner = CASE WHEN $15 THEN $16 END,
                lease_until = CASE WHEN $15 THEN now() + make_interval(secs => $17)
                                   ELSE '-infinity' END,
                trace_context = coalesce($18, trace_context), updated_at = now()
          WHERE payment_id = $1 AND status = $2
         RETURNING ",
        columns!()
    ))
    .bind(after.id.uuid())
    .bind(from.as_str())
    .bind(after.status.as_str())
    .bind(after.captured_minor)
    .bind(after.refunded_minor)
    .bind(after.decline_reason.as_ref().map(Reason::as_str))
    .bind(&after.gateway_intent_id)
    .bind(after.version)
    .bind(after.told.as_ref().map(Reason::as_str))
    .bind(undo.map(|undo| undo.saga_id))
    .bind(undo.map(|undo| &undo.step))
    .bind(undo.map(|undo| &undo.command_id))
    .bind(after.status.is_open())
    .bind(pause.as_secs_f64())
    .bind(keeps_lease)
    .bind(&lease.owner)
    .bind(lease.length.as_secs_f64())
    .bind(change.trace_context.map(Json))
    .fetch_optional(conn)
    .await?;
    match row {
        Some(row) => record(&row),
        None => Err(StoreError::StatusChanged { id: after.id, from }),
    }
}

/// Remembers an undo with a charge that is still open. The lease stays with whoever holds it: they
/// find the undo when they write down what they learned.
pub async fn remember_undo(
    conn: &mut PgConnection,
    id: PaymentId,
    undo: &CommandRef,
    trace_context: &BTreeMap<String, String>,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE payments
            SET refund_saga_id = $2, refund_step = $3, refund_command_id = $4, trace_context = $5,
                next_attempt_at = now(), updated_at = now()
          WHERE payment_id = $1 AND status IN ('CHARGING', 'OUTCOME_UNKNOWN')",
    )
    .bind(id.uuid())
    .bind(undo.saga_id)
    .bind(&undo.step)
    .bind(&undo.command_id)
    .bind(Json(trace_context))
    .execute(conn)
    .await?;
    Ok(())
}

/// Lets open work be tried now instead of after its pause.
pub async fn hurry(conn: &mut PgConnection, id: PaymentId) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE payments SET next_attempt_at = now()
          WHERE payment_id = $1 AND next_attempt_at > now()",
    )
    .bind(id.uuid())
    .execute(conn)
    .await?;
    Ok(())
}

/// Takes open payments that are due and that nobody works on, also those of a dead process. Others'
/// claims are skipped: this is a work claim, never a count.
pub async fn claim_due(
    conn: &mut PgConnection,
    lease: &Lease,
    limit: i64,
) -> Result<Vec<Record>, StoreError> {
    let rows = sqlx::query(concat!(
        "WITH due AS MATERIALIZED (
             SELECT payment_id AS id FROM payments
              WHERE next_attempt_at <= now() AND lease_until <= now()
              ORDER BY next_attempt_at LIMIT $1 FOR UPDATE SKIP LOCKED
         )
         UPDATE payments
            SET lease_owner = $2, lease_until = now() + make_interval(secs => $3),
                attempts = attempts + 1
           FROM due WHERE payment_id = due.id
         RETURNING ",
        columns!()
    ))
    .bind(limit)
    .bind(&lease.owner)
    .bind(lease.length.as_secs_f64())
    .fetch_all(conn)
    .await?;
    rows.iter().map(record).collect()
}

/// Lengthens the lease of this very claim; `false` if somebody else has the payment now, or nobody
/// needs to.
pub async fn renew_lease(
    conn: &mut PgConnection,
    id: PaymentId,
    attempts: i32,
    lease: &Lease,
) -> Result<bool, StoreError> {
    let renewed = sqlx::query(
        "UPDATE payments SET lease_until = now() + make_interval(secs => $4)
          WHERE payment_id = $1 AND lease_owner = $2 AND attempts = $3
            AND next_attempt_at IS NOT NULL",
    )
    .bind(id.uuid())
    .bind(&lease.owner)
    .bind(attempts)
    .bind(lease.length.as_secs_f64())
    .execute(conn)
    .await?
    .rows_affected();
    Ok(renewed == 1)
}

/// How long the oldest charge has been without an answer; zero if there is none.
pub async fn oldest_unknown_seconds(conn: &mut PgConnection) -> Result<f64, StoreError> {
    Ok(sqlx::query_scalar(
        "SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM payments
          WHERE status = 'OUTCOME_UNKNOWN' AND next_attempt_at IS NOT NULL",
    )
    .fetch_one(conn)
    .await?)
}

fn record(row: &PgRow) -> Result<Record, StoreError> {
    let Json(trace_context) = row.try_get("trace_context")?;
    let payment_method: Option<String> = row.try_get("payment_method")?;
    let undo = command(row, "refund_saga_id", "refund_step", "refund_command_id")?;
    Ok(Record {
        payment: payment(row, undo.is_some())?,
        payment_method: payment_method
            .map(|text| PaymentMethod::parse(&text).map_err(|error| corrupt(&error)))
            .transpose()?,
        charge: command(row, "charge_saga_id", "charge_step", "charge_command_id")?,
        undo,
        trace_context,
        attempts: row.try_get("attempts")?,
        create_key_is_old: row.try_get("create_key_is_old")?,
        search_is_settled: row.try_get("search_is_settled")?,
    })
}

fn payment(row: &PgRow, undo_wanted: bool) -> Result<Payment, StoreError> {
    let status: String = row.try_get("status")?;
    let currency: String = row.try_get("currency")?;
    let currency = Currency::parse(&currency).map_err(|error| corrupt(&error))?;
    let amount = Money::new(row.try_get("amount_minor")?, currency);
    let reason = |column| -> Result<Option<Reason>, StoreError> {
        let text: Option<String> = row.try_get(column)?;
        Ok(text.as_deref().map(Reason::from_code))
    };
    Ok(Payment {
        id: row.try_get::<Uuid, _>("payment_id")?.into(),
        order_id: row.try_get::<Uuid, _>("order_id")?.into(),
        status: Status::parse(&status).map_err(|error| corrupt(&error))?,
        amount: amount.map_err(|error| corrupt(&error))?,
        captured_minor: row.try_get("captured_minor")?,
        refunded_minor: row.try_get("refunded_minor")?,
        decline_reason: reason("decline_reason")?,
        gateway_intent_id: row.try_get("gateway_intent_id")?,
        undo_wanted,
        told: reason("told_reason")?,
        version: row.try_get("version")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}

fn command(
    row: &PgRow,
    saga_id: &str,
    step: &str,
    command_id: &str,
) -> Result<Option<CommandRef>, StoreError> {
    let Some(saga_id) = row.try_get::<Option<Uuid>, _>(saga_id)? else {
        return Ok(None);
    };
    Ok(Some(CommandRef {
        saga_id,
        step: row.try_get(step)?,
        command_id: row.try_get(command_id)?,
    }))
}

fn corrupt(error: &impl ToString) -> StoreError {
    StoreError::Corrupt {
        table: "payments",
        what: error.to_string(),
    }
}
