//! How long an order stood still.

use std::time::Duration;

use sqlx::{PgPool, Row as _};
use uuid::Uuid;

/// Orders whose processor answers at once stand still only because something died.
pub(super) const CARDS: [(&str, &[&str]); 2] = [
    (
        "an order whose processor answers",
        &["pm_card_visa", "pm_card_chargeDeclined"],
    ),
    (
        "any other",
        &[
            "pm_sim_confirm_acts_then_times_out",
            "pm_sim_confirm_times_out",
            "pm_sim_confirm_acts_late",
            "pm_sim_confirm_held",
            "pm_sim_slow",
            "pm_sim_500_stored",
        ],
    ),
];

/// The longest time between two lines of one saga's log that tell of progress.
#[derive(Debug, Default)]
pub(super) struct Stall {
    pub(super) length: Duration,
    pub(super) order: String,
    pub(super) saga_id: Uuid,
    /// What ended it.
    pub(super) at: String,
}

const LONGEST: &str = "
    WITH progress AS (
        SELECT l.saga_id, l.seq, l.at, l.entry || ' ' || l.step AS what
          FROM saga_log l
         WHERE l.entry NOT IN ('ASKED_AGAIN', 'WAITING', 'LATE_OUTCOME', 'RESUMED', 'EPOCH_RAISED')
    ), gaps AS (
        SELECT saga_id, what,
               at - lag(at) OVER (PARTITION BY saga_id ORDER BY seq) AS gap
          FROM progress
    )
    SELECT extract(epoch FROM g.gap)::float8 AS seconds, o.id::text AS order_id, g.saga_id, g.what
      FROM gaps g JOIN orders o ON o.saga_id = g.saga_id
     WHERE g.gap IS NOT NULL AND o.payment_method = ANY ($1)
     ORDER BY g.gap DESC LIMIT 1";

pub(super) async fn longest(orders: &PgPool, cards: &[&str]) -> Stall {
    let row = sqlx::query(LONGEST)
        .bind(cards)
        .fetch_optional(orders)
        .await
        .unwrap();
    row.map_or_else(Stall::default, |row| Stall {
        length: Duration::from_secs_f64(row.get("seconds")),
        order: row.get("order_id"),
        saga_id: row.get("saga_id"),
        at: row.get("what"),
    })
}

/// The whole log of one saga, for a look at what it waited for.
pub(super) async fn log(orders: &PgPool, saga_id: Uuid) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT to_char(at, 'HH24:MI:SS.MS') || ' ' || entry || ' ' || step || ': ' || detail
           FROM saga_log WHERE saga_id = $1 ORDER BY seq",
    )
    .bind(saga_id)
    .fetch_all(orders)
    .await
    .unwrap()
}
