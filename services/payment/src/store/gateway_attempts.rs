//! What was asked of the processor and what it said, for people.

use sqlx::PgConnection;

use crate::{
    domain::{Call, PaymentId},
    store::StoreError,
};

/// Writes `calls`, in the transaction of what they led to.
pub async fn record(
    conn: &mut PgConnection,
    payment_id: PaymentId,
    attempt: i32,
    calls: &[Call],
) -> Result<(), StoreError> {
    if calls.is_empty() {
        return Ok(());
    }
    let operations: Vec<&str> = calls.iter().map(|call| call.operation.as_str()).collect();
    let results: Vec<&str> = calls.iter().map(|call| call.result).collect();
    let details: Vec<Option<&str>> = calls.iter().map(|call| call.detail.as_deref()).collect();
    sqlx::query(
        "INSERT INTO gateway_attempts (payment_id, operation, result, detail, attempt)
         SELECT $1, operation, result, detail, $2
           FROM unnest($3::text[], $4::text[], $5::text[]) AS call (operation, result, detail)",
    )
    .bind(payment_id.uuid())
    .bind(attempt.max(1))
    .bind(operations)
    .bind(results)
    .bind(details)
    .execute(conn)
    .await?;
    Ok(())
}
