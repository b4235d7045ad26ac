//! Reservations and what they hold. Every write is guarded by (id, state) and moves stock, journal
//! and reservation in one statement.

use sqlx::{PgConnection, Row as _, postgres::PgRow, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{
        Basket, Line, MissingLine, Movement, OrderId, Quantity, Reservation, ReservationId, Sku,
        State,
    },
    store::StoreError,
};

/// The guard was fresh, so whoever took this id was another command.
const RESERVATION_KEY: &str = "reservations_pkey";

/// What asking for a basket came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserved {
    Held { expires_at: OffsetDateTime },
    Refused { missing_lines: Vec<MissingLine> },
}

/// Holds the whole basket, or nothing of it, and writes the reservation either way. One statement:
/// rows are locked in SKU order, counted as they are *after* any wait, and changed only if all fit.
///
/// The update computes both columns from `k` and nothing from the table: PostgreSQL first builds the
/// new row from the one of *before* the wait, and would refuse it by the table's CHECK (or by a
/// condition on that row) where somebody has just given goods back. `k` holds the lock, so its values
/// are the latest.
pub async fn reserve(
    conn: &mut PgConnection,
    id: ReservationId,
    order_id: OrderId,
    basket: &Basket,
    hold_seconds: f64,
) -> Result<Reserved, StoreError> {
    let row = sqlx::query(
        "WITH wanted AS MATERIALIZED (
             SELECT * FROM unnest($3::text[], $4::bigint[]) AS w(sku, quantity)
         ), k AS MATERIALIZED (
             SELECT sku, on_hand, reserved, on_hand - reserved AS available FROM stock
              WHERE sku = ANY($3) ORDER BY sku FOR UPDATE
         ), missing AS MATERIALIZED (
             SELECT w.sku, w.quantity AS requested, coalesce(k.available, 0) AS available
               FROM wanted w LEFT JOIN k ON k.sku = w.sku
              WHERE coalesce(k.available, 0) < w.quantity
         ), fits AS MATERIALIZED (
             SELECT count(*) = 0 AS all_lines FROM missing
         ), taken AS (
             UPDATE stock s SET on_hand = k.on_hand, reserved = k.reserved + w.quantity
               FROM k, wanted w, fits
              WHERE s.sku = k.sku AND w.sku = k.sku AND fits.all_lines
             RETURNING s.sku, w.quantity
         ), reservation AS (
             INSERT INTO reservations (id, order_id, state, version, expires_at, missing_lines)
             SELECT $1, $2, CASE WHEN all_lines THEN 'PENDING' ELSE 'REFUSED' END, 1,
                    CASE WHEN all_lines THEN now() + make_interval(secs => $5) END,
                    (SELECT jsonb_agg(to_jsonb(missing) ORDER BY missing.sku) FROM missing)
               FROM fits
             RETURNING expires_at, missing_lines
         ), lines AS (
             INSERT INTO reservation_lines (reservation_id, sku, quantity)
             SELECT $1, sku, quantity FROM wanted
         ), journal AS (
             INSERT INTO stock_journal (sku, movement, on_hand_delta, reserved_delta, reservation_id)
             SELECT sku, 'RESERVED', 0, quantity, $1 FROM taken
         )
         SELECT expires_at, missing_lines, (SELECT count(*) FROM taken) AS taken FROM reservation",
    )
    .bind(id.uuid())
    .bind(order_id.uuid())
    .bind(basket.skus())
    .bind(basket.quantities())
    .bind(hold_seconds)
    .fetch_one(conn)
    .await
    .map_err(|error| taken_id(id, error))?;
    let taken: i64 = row.try_get("taken")?;
    let lines = i64::try_from(basket.skus().len()).unwrap_or(i64::MAX);
    match row.try_get::<Option<OffsetDateTime>, _>("expires_at")? {
        Some(expires_at) if taken == lines => Ok(Reserved::Held { expires_at }),
        None if taken == 0 => Ok(Reserved::Refused {
            missing_lines: missing(row.try_get("missing_lines")?)?,
        }),
        _ => Err(StoreError::Inconsistent {
            id,
            what: "held some lines and not others",
        }),
    }
}

/// The reservation, locked until the caller's transaction ends. Guards come before it, SKUs after.
pub async fn lock(
    conn: &mut PgConnection,
    id: ReservationId,
) -> Result<Option<Reservation>, StoreError> {
    // First the lock, then the look: a single statement would show the row as it was before a wait.
    let locked = sqlx::query("SELECT FROM reservations WHERE id = $1 FOR UPDATE")
        .bind(id.uuid())
        .fetch_optional(&mut *conn)
        .await?;
    match locked {
        Some(_) => find(conn, id).await,
        None => Ok(None),
    }
}

/// The reservation with its lines.
pub async fn find(
    conn: &mut PgConnection,
    id: ReservationId,
) -> Result<Option<Reservation>, StoreError> {
    let row = sqlx::query(
        "SELECT r.id, r.order_id, r.state, r.expires_at, r.created_at, r.updated_at, r.version,
                ARRAY(SELECT l.sku FROM reservation_lines l
                       WHERE l.reservation_id = r.id ORDER BY l.sku) AS skus,
                ARRAY(SELECT l.quantity FROM reservation_lines l
                       WHERE l.reservation_id = r.id ORDER BY l.sku) AS quantities
           FROM reservations r WHERE r.id = $1",
    )
    .bind(id.uuid())
    .fetch_optional(conn)
    .await?;
    row.as_ref().map(reservation).transpose()
}

/// Moves a hold to its end (COMMITTED, RELEASED, EXPIRED) and its stock with it. Answers with the new
/// version; `None` if the reservation is not PENDING any more, and then nothing has changed.
pub async fn end_hold(
    conn: &mut PgConnection,
    id: ReservationId,
    to: State,
    movement: Movement,
) -> Result<Option<i64>, StoreError> {
    let row = sqlx::query(
        "WITH reservation AS (
             UPDATE reservations SET state = $2, version = version + 1, updated_at = now()
              WHERE id = $1 AND state = 'PENDING'
             RETURNING id, version
         ), k AS MATERIALIZED (
             SELECT s.sku, l.quantity
               FROM reservation r
               JOIN reservation_lines l ON l.reservation_id = r.id
               JOIN stock s ON s.sku = l.sku
              ORDER BY s.sku FOR UPDATE OF s
         ), moved AS (
             UPDATE stock s SET on_hand = s.on_hand + $3 * k.quantity,
                                reserved = s.reserved + $4 * k.quantity
               FROM k WHERE s.sku = k.sku
             RETURNING s.sku, k.quantity
         ), journal AS (
             INSERT INTO stock_journal (sku, movement, on_hand_delta, reserved_delta, reservation_id)
             SELECT sku, $5, $3 * quantity, $4 * quantity, $1 FROM moved
         )
         SELECT version, (SELECT count(*) FROM moved) AS moved,
                (SELECT count(*) FROM reservation_lines WHERE reservation_id = $1) AS lines
           FROM reservation",
    )
    .bind(id.uuid())
    .bind(to.as_str())
    .bind(movement.on_hand_sign())
    .bind(movement.reserved_sign())
    .bind(movement.as_str())
    .fetch_optional(conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    if row.try_get::<i64, _>("moved")? != row.try_get::<i64, _>("lines")? {
        return Err(StoreError::Inconsistent {
            id,
            what: "holds stock of a SKU that is gone",
        });
    }
    Ok(Some(row.try_get("version")?))
}

/// What selling an expired hold came to, with the reservation's new version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SoldAnew {
    Sold {
        version: i64,
    },
    Gone {
        version: i64,
        missing_lines: Vec<MissingLine>,
    },
}

/// Sells the stock of an EXPIRED reservation if all of it is there, without ever holding it. The
/// version rises either way: both are told. Computed from `k`, as in [`reserve`].
pub async fn sell_after_expiry(
    conn: &mut PgConnection,
    id: ReservationId,
) -> Result<SoldAnew, StoreError> {
    let row = sqlx::query(
        "WITH wanted AS MATERIALIZED (
             SELECT sku, quantity FROM reservation_lines WHERE reservation_id = $1
         ), k AS MATERIALIZED (
             SELECT s.sku, s.on_hand, s.reserved, s.on_hand - s.reserved AS available FROM stock s
              WHERE s.sku IN (SELECT sku FROM wanted) ORDER BY s.sku FOR UPDATE
         ), missing AS MATERIALIZED (
             SELECT w.sku, w.quantity AS requested, coalesce(k.available, 0) AS available
               FROM wanted w LEFT JOIN k ON k.sku = w.sku
              WHERE coalesce(k.available, 0) < w.quantity
         ), fits AS MATERIALIZED (
             SELECT count(*) = 0 AS all_lines FROM missing
         ), sold AS (
             UPDATE stock s SET on_hand = k.on_hand - w.quantity, reserved = k.reserved
               FROM k, wanted w, fits
              WHERE s.sku = k.sku AND w.sku = k.sku AND fits.all_lines
             RETURNING s.sku, w.quantity
         ), journal AS (
             INSERT INTO stock_journal (sku, movement, on_hand_delta, reserved_delta, reservation_id)
             SELECT sku, 'SOLD_AFTER_EXPIRY', -quantity, 0, $1 FROM sold
         )
         UPDATE reservations r
            SET state = CASE WHEN all_lines THEN 'COMMITTED' ELSE 'EXPIRED' END,
                version = version + 1, updated_at = now()
           FROM fits WHERE r.id = $1 AND r.state = 'EXPIRED'
         RETURNING r.version, r.state = 'COMMITTED' AS is_sold, (SELECT count(*) FROM sold) AS sold,
                   (SELECT count(*) FROM wanted) AS wanted,
                   (SELECT jsonb_agg(to_jsonb(missing) ORDER BY missing.sku) FROM missing)
                       AS missing_lines",
    )
    .bind(id.uuid())
    .fetch_optional(conn)
    .await?;
    let inconsistent = |what| StoreError::Inconsistent { id, what };
    let row = row.ok_or_else(|| inconsistent("was locked as EXPIRED and is not"))?;
    let (version, is_sold) = (row.try_get("version")?, row.try_get::<bool, _>("is_sold")?);
    let (sold, wanted): (i64, i64) = (row.try_get("sold")?, row.try_get("wanted")?);
    match (is_sold, sold) {
        (true, sold) if sold == wanted => Ok(SoldAnew::Sold { version }),
        (false, 0) => Ok(SoldAnew::Gone {
            version,
            missing_lines: missing(row.try_get("missing_lines")?)?,
        }),
        _ => Err(inconsistent("sold some lines and not others")),
    }
}

/// Raises the version for an outcome that changes nothing else.
pub async fn touch(conn: &mut PgConnection, id: ReservationId) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar(
        "UPDATE reservations SET version = version + 1, updated_at = now() WHERE id = $1
         RETURNING version",
    )
    .bind(id.uuid())
    .fetch_one(conn)
    .await?)
}

/// A RELEASED reservation that never held anything: its undo came first.
pub async fn insert_tombstone(
    conn: &mut PgConnection,
    id: ReservationId,
    order_id: OrderId,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO reservations (id, order_id, state, version) VALUES ($1, $2, 'RELEASED', 1)",
    )
    .bind(id.uuid())
    .bind(order_id.uuid())
    .execute(conn)
    .await
    .map_err(|error| taken_id(id, error))?;
    Ok(())
}

/// Claims holds whose time is over, the oldest first, and locks the stock of all of them in SKU order.
/// Others' claims are skipped: this is a work claim, never a count.
pub async fn claim_expired(
    conn: &mut PgConnection,
    limit: i64,
) -> Result<Vec<(ReservationId, OrderId)>, StoreError> {
    let claimed: Vec<(Uuid, Uuid)> = sqlx::query_as(
        "SELECT id, order_id FROM reservations
          WHERE state = 'PENDING' AND expires_at <= now()
          ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED",
    )
    .bind(limit)
    .fetch_all(&mut *conn)
    .await?;
    let ids: Vec<Uuid> = claimed.iter().map(|(id, _)| *id).collect();
    sqlx::query(
        "SELECT FROM stock WHERE sku IN (
             SELECT sku FROM reservation_lines WHERE reservation_id = ANY($1))
          ORDER BY sku FOR UPDATE",
    )
    .bind(ids)
    .execute(conn)
    .await?;
    let typed = |(id, order_id): (Uuid, Uuid)| (id.into(), order_id.into());
    Ok(claimed.into_iter().map(typed).collect())
}

fn taken_id(id: ReservationId, error: sqlx::Error) -> StoreError {
    match &error {
        sqlx::Error::Database(broken) if broken.constraint() == Some(RESERVATION_KEY) => {
            StoreError::ReservationExists { id }
        }
        _ => error.into(),
    }
}

#[derive(serde::Deserialize)]
struct MissingRow {
    sku: String,
    requested: i64,
    available: i64,
}

fn missing(rows: Option<Json<Vec<MissingRow>>>) -> Result<Vec<MissingLine>, StoreError> {
    let Json(rows) = rows.unwrap_or_default();
    rows.into_iter()
        .map(|row| {
            Ok(MissingLine {
                sku: sku(&row.sku)?,
                requested: row.requested,
                available: row.available,
            })
        })
        .collect()
}

fn reservation(row: &PgRow) -> Result<Reservation, StoreError> {
    let state: String = row.try_get("state")?;
    let skus: Vec<String> = row.try_get("skus")?;
    let quantities: Vec<i64> = row.try_get("quantities")?;
    let lines = skus.iter().zip(quantities).map(|(text, quantity)| {
        Ok(Line {
            sku: sku(text)?,
            quantity: Quantity::parse(quantity).map_err(|error| corrupt(&error))?,
        })
    });
    Ok(Reservation {
        id: row.try_get::<Uuid, _>("id")?.into(),
        order_id: row.try_get::<Uuid, _>("order_id")?.into(),
        state: State::parse(&state).map_err(|error| corrupt(&error))?,
        lines: lines.collect::<Result<_, StoreError>>()?,
        expires_at: row.try_get("expires_at")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
        version: row.try_get("version")?,
    })
}

fn sku(text: &str) -> Result<Sku, StoreError> {
    Sku::parse(text).map_err(|error| corrupt(&error))
}

fn corrupt(error: &impl ToString) -> StoreError {
    StoreError::Corrupt {
        table: "reservations",
        what: error.to_string(),
    }
}
