//! The inventory service's database: the reservation, and the stock that it needs.

use sqlx::{PgConnection, Row as _, postgres::PgRow};

use super::{
    Query,
    board::{Board, Place, Subject},
    events, locks,
    session::{self, Session, maybe_when, told, when},
};
use crate::why::{
    facts::{InventorySide, Reservation},
    id::{Asked, Kind},
};

/// Reads it.
pub(super) async fn side(
    url: &str,
    query: Query<'_>,
    board: &Board,
) -> Result<InventorySide, String> {
    let mut connection = match session::open(url).await? {
        Session::Open(connection) => connection,
        Session::Locked(locks) => {
            return Ok(InventorySide {
                locks,
                ..InventorySide::default()
            });
        }
    };
    let read = async {
        let found = find(&mut connection, query).await?;
        board.tell(Place::Inventory, found);
        match board.subject().await {
            Some(subject) => read(&mut connection, &subject).await,
            None => Ok(InventorySide::default()),
        }
    };
    read.await.map_err(|error: sqlx::Error| told(&error))
}

const BY_ID: &str = "SELECT order_id FROM reservations WHERE id = $1";

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
            reservation_id: Some(*id),
            ..Subject::new(Kind::Reservation, row.try_get("order_id")?)
        })),
        (None, None | Some(Kind::Event)) => events::by_id(connection, *id).await,
        (None, Some(_)) => Ok(None),
    }
}

const RESERVATION: &str = "
    SELECT id, state, expires_at, updated_at, now() AS now FROM reservations WHERE id = $1";

const LOCKED: &str = "
    SELECT 'reservations', id::text, reservations.xmax FROM given JOIN reservations ON id = first
     UNION ALL
    SELECT 'command_guards', step || ' ' || lower(direction), command_guards.xmax
      FROM given JOIN command_guards ON saga_id = second
     UNION ALL
    SELECT 'stock', sku::text, stock.xmax FROM given JOIN stock ON sku = ANY (names)";

async fn read(connection: &mut PgConnection, subject: &Subject) -> sqlx::Result<InventorySide> {
    let reservation = sqlx::query(RESERVATION)
        .bind(subject.reservation_id)
        .fetch_optional(&mut *connection)
        .await?;
    let guards = events::guards(connection, subject.saga_id).await?;
    let outbox = events::of_aggregate(connection, "reservation", subject.reservation_id).await?;
    let ids = [subject.reservation_id, subject.saga_id];
    Ok(InventorySide {
        reservation: reservation.as_ref().map(reservation_of).transpose()?,
        guards,
        outbox,
        locks: locks::of_rows(connection, LOCKED, ids, &subject.skus).await?,
    })
}

fn reservation_of(row: &PgRow) -> sqlx::Result<Reservation> {
    Ok(Reservation {
        id: row.try_get("id")?,
        state: row.try_get("state")?,
        expires: maybe_when(row, "expires_at")?,
        changed: when(row, "updated_at")?,
    })
}
