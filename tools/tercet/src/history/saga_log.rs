//! What the saga decided, in words. What the services' own events tell is left to them.

use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use crate::{
    screen::Tone,
    timeline::{Moment, Who},
};

const LOG: &str = "
    SELECT l.at, l.entry, l.step, l.direction, l.detail
      FROM saga_log l JOIN orders o ON o.saga_id = l.saga_id
     WHERE o.id = $1 ORDER BY l.seq";

pub(super) async fn read(
    connection: &mut PgConnection,
    order_id: Uuid,
) -> sqlx::Result<Vec<Moment>> {
    let rows = sqlx::query(LOG)
        .bind(order_id)
        .fetch_all(connection)
        .await?;
    let mut moments = Vec::new();
    for row in &rows {
        let entry: String = row.try_get("entry")?;
        let step: String = row.try_get("step")?;
        let detail: String = row.try_get("detail")?;
        if let Some((tone, what)) = words(&entry, &step, &detail) {
            moments.push(Moment::new(row.try_get("at")?, Who::Saga, what).toned(tone));
        }
    }
    Ok(moments)
}

/// What a line of the log tells a person; nothing if an event tells the same.
fn words(entry: &str, step: &str, detail: &str) -> Option<(Tone, String)> {
    let told = |tone, what: String| Some((tone, what));
    match entry {
        "STEP_STARTED" => told(Tone::Dim, format!("▸ {step}")),
        "UNDO_STARTED" => told(Tone::Dim, format!("◂ undo {step}")),
        "ASKED_AGAIN" => told(Tone::Dim, format!("asks again: {step}")),
        "CANCEL_REQUESTED" => told(Tone::Warn, with("cancel requested", detail)),
        "TURNED_BACK" => told(Tone::Warn, with("turns back", detail)),
        "STEP_UNKNOWN" => told(Tone::Warn, with(&format!("{step} unknown"), detail)),
        "WAITING" => told(Tone::Dim, with(&format!("waits at {step}"), detail)),
        "STUCK" => told(Tone::Bad, with("STUCK", detail)),
        "UNSTUCK" => told(Tone::Plain, with("no longer stuck", detail)),
        "LATE_OUTCOME" => told(Tone::Dim, with("late outcome", detail)),
        "RESUMED" => told(Tone::Warn, with("resumed", detail)),
        "EPOCH_RAISED" => told(Tone::Warn, with("epoch raised", detail)),
        "COMPLETED" => told(Tone::Good, "saga completed".to_owned()),
        "COMPENSATED" => told(Tone::Good, "saga ended: everything is undone".to_owned()),
        _ => None,
    }
}

fn with(what: &str, detail: &str) -> String {
    if detail.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: {detail}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_event_tells_is_not_told_twice() {
        assert_eq!(words("STEP_SUCCEEDED", "reserve-stock", ""), None);
        let (_, turned) = words("TURNED_BACK", "charge-payment", "CARD_DECLINED").unwrap();
        assert_eq!(turned, "turns back: CARD_DECLINED");
        let (_, undo) = words("UNDO_STARTED", "reserve-stock", "").unwrap();
        assert_eq!(undo, "◂ undo reserve-stock");
    }
}
