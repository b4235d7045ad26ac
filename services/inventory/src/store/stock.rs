//! Stock as it is, and changes by people and deliveries.

use sqlx::{PgConnection, Row as _, postgres::PgRow};

use crate::{
    domain::{Adjustment, Sku, StockLevel},
    store::StoreError,
};

/// What an adjustment came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Adjusted {
    /// The stock as it is now: changed now, or by the same adjustment before.
    Done(StockLevel),
    /// It would leave fewer goods than are promised to somebody.
    BelowReserved(Option<StockLevel>),
    /// The id was used for another change.
    IdReused,
}

/// One SKU.
pub async fn find(conn: &mut PgConnection, sku: &Sku) -> Result<Option<StockLevel>, StoreError> {
    let row = sqlx::query("SELECT sku, on_hand, reserved FROM stock WHERE sku = $1")
        .bind(sku.as_str())
        .fetch_optional(conn)
        .await?;
    row.as_ref().map(level).transpose()
}

/// By SKU, those after `after`, at most `limit`.
pub async fn list(
    conn: &mut PgConnection,
    after: &str,
    limit: i64,
) -> Result<Vec<StockLevel>, StoreError> {
    let rows = sqlx::query(
        "SELECT sku, on_hand, reserved FROM stock WHERE sku > $1 ORDER BY sku LIMIT $2",
    )
    .bind(after)
    .bind(limit)
    .fetch_all(conn)
    .await?;
    rows.iter().map(level).collect()
}

/// Adds to the goods on hand, once for each adjustment id. A positive change makes the SKU known.
///
/// The insert of the journal row is the claim: it waits while a rival has the same id, and what the
/// rival committed is seen by the second statement only.
pub async fn adjust(
    conn: &mut PgConnection,
    adjustment: &Adjustment,
) -> Result<Adjusted, StoreError> {
    let claimed = sqlx::query(
        "INSERT INTO stock_journal (sku, movement, on_hand_delta, reserved_delta, adjustment_id, reason)
         VALUES ($1, 'ADJUSTED', $2, 0, $3, $4) ON CONFLICT (adjustment_id) DO NOTHING",
    )
    .bind(adjustment.sku.as_str())
    .bind(adjustment.delta.get())
    .bind(adjustment.id.uuid())
    .bind(&adjustment.reason)
    .execute(&mut *conn)
    .await?
    .rows_affected();
    if claimed == 0 {
        return repeated(conn, adjustment).await;
    }
    let changed = if adjustment.delta.get() > 0 {
        // A delivery makes its SKU known.
        "INSERT INTO stock AS s (sku, on_hand, reserved) VALUES ($1, $2, 0)
         ON CONFLICT (sku) DO UPDATE SET on_hand = s.on_hand + excluded.on_hand
         RETURNING sku, on_hand, reserved"
    } else {
        "UPDATE stock SET on_hand = on_hand + $2 WHERE sku = $1 AND on_hand + $2 >= reserved
         RETURNING sku, on_hand, reserved"
    };
    let row = sqlx::query(changed)
        .bind(adjustment.sku.as_str())
        .bind(adjustment.delta.get())
        .fetch_optional(&mut *conn)
        .await?;
    match row {
        Some(row) => Ok(Adjusted::Done(level(&row)?)),
        None => Ok(Adjusted::BelowReserved(find(conn, &adjustment.sku).await?)),
    }
}

async fn repeated(
    conn: &mut PgConnection,
    adjustment: &Adjustment,
) -> Result<Adjusted, StoreError> {
    let same: bool = sqlx::query_scalar(
        "SELECT sku = $2 AND on_hand_delta = $3 FROM stock_journal WHERE adjustment_id = $1",
    )
    .bind(adjustment.id.uuid())
    .bind(adjustment.sku.as_str())
    .bind(adjustment.delta.get())
    .fetch_one(&mut *conn)
    .await?;
    match find(conn, &adjustment.sku).await? {
        Some(level) if same => Ok(Adjusted::Done(level)),
        _ => Ok(Adjusted::IdReused),
    }
}

fn level(row: &PgRow) -> Result<StockLevel, StoreError> {
    let text: String = row.try_get("sku")?;
    Ok(StockLevel {
        sku: Sku::parse(&text).map_err(|error| StoreError::Corrupt {
            table: "stock",
            what: error.to_string(),
        })?,
        on_hand: row.try_get("on_hand")?,
        reserved: row.try_get("reserved")?,
    })
}
