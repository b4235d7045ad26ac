//! Refunds: at most one open one for each payment, and the key it is asked under.

use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use crate::{
    domain::{PaymentId, Refund, RefundId},
    store::StoreError,
};

/// Opens a refund of all that was taken and not given back.
pub async fn open(
    conn: &mut PgConnection,
    id: RefundId,
    payment_id: PaymentId,
    amount_minor: i64,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO refunds (refund_id, payment_id, amount_minor, status)
         VALUES ($1, $2, $3, 'OPEN')",
    )
    .bind(id.uuid())
    .bind(payment_id.uuid())
    .bind(amount_minor)
    .execute(conn)
    .await?;
    Ok(())
}

/// The payment's open refund.
pub async fn find_open(
    conn: &mut PgConnection,
    payment_id: PaymentId,
) -> Result<Option<Refund>, StoreError> {
    let row = sqlx::query(
        "SELECT refund_id, amount_minor, key_number,
                key_since < now() - interval '23 hours' AS key_is_old
           FROM refunds WHERE payment_id = $1 AND status = 'OPEN'",
    )
    .bind(payment_id.uuid())
    .fetch_optional(conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Refund {
        id: row.try_get::<Uuid, _>("refund_id")?.into(),
        amount_minor: row.try_get("amount_minor")?,
        key_number: row.try_get("key_number")?,
        key_is_old: row.try_get("key_is_old")?,
    }))
}

/// Closes it.
pub async fn succeed(conn: &mut PgConnection, id: RefundId) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE refunds SET status = 'SUCCEEDED', updated_at = now()
          WHERE refund_id = $1 AND status = 'OPEN'",
    )
    .bind(id.uuid())
    .execute(conn)
    .await?;
    Ok(())
}

/// From now on it is asked under the next key. Guarded by the one that is spent: a worker that comes
/// late with the same news changes nothing.
pub async fn take_next_key(conn: &mut PgConnection, spent: &Refund) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE refunds SET key_number = key_number + 1, key_since = now(), updated_at = now()
          WHERE refund_id = $1 AND key_number = $2 AND status = 'OPEN'",
    )
    .bind(spent.id.uuid())
    .bind(spent.key_number)
    .execute(conn)
    .await?;
    Ok(())
}
