//! The calls to the card processor, as the payment service wrote them down.

use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use crate::{
    screen::Tone,
    timeline::{Moment, Who},
};

const CALLS: &str = "
    SELECT g.recorded_at, g.operation, g.result, g.attempt
      FROM gateway_attempts g JOIN payments p ON p.payment_id = g.payment_id
     WHERE p.order_id = $1 ORDER BY g.id";

pub(super) async fn read(
    connection: &mut PgConnection,
    order_id: Uuid,
) -> sqlx::Result<Vec<Moment>> {
    let rows = sqlx::query(CALLS)
        .bind(order_id)
        .fetch_all(connection)
        .await?;
    let moments = rows.iter().map(|row| {
        let operation: String = row.try_get("operation")?;
        let result: String = row.try_get("result")?;
        let attempt: i32 = row.try_get("attempt")?;
        let what = words(&operation, &result, attempt);
        Ok(Moment::new(row.try_get("recorded_at")?, Who::Gateway, what).toned(tone(&result)))
    });
    moments.collect()
}

fn words(operation: &str, result: &str, attempt: i32) -> String {
    let call = operation.to_lowercase().replace('_', " ");
    let came = result.to_lowercase().replace('_', " ");
    if attempt > 1 {
        format!("{call} (try {attempt}): {came}")
    } else {
        format!("{call}: {came}")
    }
}

fn tone(result: &str) -> Tone {
    match result {
        "TIMED_OUT" | "TIMEOUT" | "NO_ANSWER" | "UNKNOWN" => Tone::Warn,
        _ => Tone::Plain,
    }
}
