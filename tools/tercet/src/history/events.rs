//! Events in words.

use serde_json::Value;
use sqlx::{PgConnection, Row as _, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    screen::Tone,
    timeline::{Moment, Who},
    view::money,
};

const EVENTS: &str = "
    SELECT created_at, event_type, payload FROM outbox_events
     WHERE payload->>'orderId' = $1 ORDER BY id";

pub(super) async fn read(
    connection: &mut PgConnection,
    order_id: Uuid,
    who: Who,
) -> sqlx::Result<Vec<Moment>> {
    let rows = sqlx::query(EVENTS)
        .bind(order_id.to_string())
        .fetch_all(connection)
        .await?;
    let moments = rows.iter().map(|row| {
        let at: OffsetDateTime = row.try_get("created_at")?;
        let event_type: String = row.try_get("event_type")?;
        let Json(payload): Json<Value> = row.try_get("payload")?;
        let (tone, what) = words(&event_type, &payload);
        Ok(Moment::new(at, who, what).toned(tone))
    });
    moments.collect()
}

/// What an event tells a person.
fn words(event_type: &str, payload: &Value) -> (Tone, String) {
    // ProtoJSON leaves out what is empty or false.
    let text = |name: &str| {
        payload
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let is = |name: &str| {
        payload
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or_default()
    };
    let sum = || {
        money(
            text("amountMinor").parse().unwrap_or_default(),
            text("currency"),
        )
    };
    match event_type.rsplit('.').next().unwrap_or(event_type) {
        "OrderPlaced" => {
            let total = text("totalMinor").parse().unwrap_or_default();
            let total = money(total, text("currency"));
            (Tone::Plain, format!("placed: {}, {total}", basket(payload)))
        }
        "OrderConfirmed" => (Tone::Good, "confirmed".to_owned()),
        "OrderCancelled" => (Tone::Bad, format!("cancelled: {}", text("reason"))),
        "StockReserved" => (Tone::Plain, format!("holds {}", basket(payload))),
        "ReservationRefused" => (
            Tone::Bad,
            format!("refuses: {} ({})", text("reason"), missing(payload)),
        ),
        "ReservationCommitted" if is("afterExpiry") => (
            Tone::Plain,
            "sold; the hold was over, the stock was still there".to_owned(),
        ),
        "ReservationCommitted" => (Tone::Plain, "sold: the hold is committed".to_owned()),
        "CommitRefused" => (
            Tone::Bad,
            format!("cannot sell: {} ({})", text("reason"), missing(payload)),
        ),
        "ReservationReleased" if is("changed") => (Tone::Plain, "stock given back".to_owned()),
        "ReservationReleased" => (Tone::Dim, "nothing was held any more".to_owned()),
        "ReservationExpired" => (Tone::Warn, "hold expired, stock given back".to_owned()),
        "StockReturned" => (Tone::Plain, "stock returned".to_owned()),
        "PaymentCharged" => (Tone::Plain, format!("charged {}", sum())),
        "PaymentDeclined" => (Tone::Bad, format!("declined: {}", text("reason"))),
        "PaymentVoided" if is("changed") => (
            Tone::Plain,
            "voided: nothing was taken, nothing can be".to_owned(),
        ),
        "PaymentVoided" => (Tone::Dim, "nothing to give back".to_owned()),
        "PaymentRefunded" if is("changed") => (Tone::Plain, format!("refunded {}", sum())),
        "PaymentRefunded" => (Tone::Dim, "had been refunded before".to_owned()),
        "RefundDelayed" => (Tone::Warn, format!("refund delayed: {}", text("reason"))),
        "RefundRefused" => (Tone::Bad, format!("refund refused: {}", text("reason"))),
        other => (Tone::Plain, other.to_owned()),
    }
}

fn basket(payload: &Value) -> String {
    join(payload, "lines", ", ", |line| {
        format!("{} × {}", quantity(line, "quantity"), sku(line))
    })
}

fn missing(payload: &Value) -> String {
    join(payload, "missingLines", "; ", |line| {
        let (wanted, there) = (quantity(line, "requested"), quantity(line, "available"));
        format!("{}: {wanted} wanted, {there} there", sku(line))
    })
}

fn join(payload: &Value, field: &str, between: &str, word: fn(&Value) -> String) -> String {
    let lines = payload.get(field).and_then(Value::as_array);
    let words = lines.into_iter().flatten().map(word);
    words.collect::<Vec<_>>().join(between)
}

fn sku(line: &Value) -> &str {
    line.get("sku").and_then(Value::as_str).unwrap_or("?")
}

// int64 is a string in ProtoJSON, and 0 is left out.
fn quantity<'a>(line: &'a Value, field: &str) -> &'a str {
    line.get(field).and_then(Value::as_str).unwrap_or("0")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_told_in_words() {
        let words = |event_type: &str, payload: Value| words(event_type, &payload).1;
        let refused = json!({
            "reason": "OUT_OF_STOCK",
            "missingLines": [{ "sku": "CUP", "requested": "5" }],
        });
        assert_eq!(
            words("tercet.events.v1.ReservationRefused", refused),
            "refuses: OUT_OF_STOCK (CUP: 5 wanted, 0 there)"
        );
        let charged = json!({ "amountMinor": "1780", "currency": "EUR" });
        assert_eq!(
            words("tercet.events.v1.PaymentCharged", charged),
            "charged 17.80 EUR"
        );
        let placed = json!({
            "lines": [{ "sku": "CUP", "quantity": "2", "unitPriceMinor": "490" }],
            "totalMinor": "980", "currency": "EUR",
        });
        assert_eq!(
            words("tercet.events.v1.OrderPlaced", placed),
            "placed: 2 × CUP, 9.80 EUR"
        );
        assert_eq!(
            words("tercet.events.v1.PaymentVoided", json!({})),
            "nothing to give back"
        );
    }
}
