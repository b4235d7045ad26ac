//! Turn a hold into a sale. An expired one is sold all the same if its goods are still there: a
//! customer who has paid is not turned away for being late.

use sqlx::PgConnection;
use tercet_crash_point::crash_point;
use tercet_inbox::guard::{Admission, CommandKey, Direction, admit_forward};
use tercet_service_kit::owned;

use super::{Ack, App, Error, not_fresh};
use crate::{
    domain::{Commit, Fact, Movement, Reservation, ReservationEvent, ReservationId, State},
    store::{StoreError, outbox, reservations, reservations::SoldAnew},
};

impl App {
    #[tracing::instrument(skip_all, fields(
        tercet.saga.id = %command.saga_id,
        tercet.command.id = command.command_id,
    ))]
    pub async fn commit_reservation(
        &self,
        command: CommandKey,
        id: ReservationId,
    ) -> Result<Ack, Error> {
        let app = self.clone();
        owned(async move {
            let mut tx = app.inner.pool.begin().await?;
            let ack = app.commit(&mut tx, &command, id).await;
            let ack = app.close(tx, ack).await?;
            crash_point!("inventory.after_commit_commit");
            Ok(ack)
        })
        .await?
    }

    async fn commit(
        &self,
        conn: &mut PgConnection,
        command: &CommandKey,
        id: ReservationId,
    ) -> Result<Ack, Error> {
        // Lock order: guard, reservation, SKUs.
        match admit_forward(conn, command).await? {
            Admission::Fresh => {}
            other => return not_fresh(other),
        }
        let reservation = reservations::lock(conn, id)
            .await?
            .ok_or(Error::ReservationNotFound(id))?;
        let (version, fact) = match reservation.commit()? {
            Commit::SellHeld => sell_held(conn, &reservation).await?,
            Commit::SellAfterExpiry => sell_after_expiry(conn, &reservation).await?,
        };
        let event = ReservationEvent {
            reservation_id: id,
            order_id: reservation.order_id,
            version,
            fact,
        };
        let topic = &self.inner.topic;
        outbox::decide(conn, topic, &event, command, Direction::Forward).await?;
        Ok(Ack::Accepted)
    }
}

async fn sell_held(
    conn: &mut PgConnection,
    reservation: &Reservation,
) -> Result<(i64, Fact), StoreError> {
    let id = reservation.id;
    let version = reservations::end_hold(conn, id, State::Committed, Movement::Committed).await?;
    let version = version.ok_or(StoreError::Inconsistent {
        id,
        what: "was locked as PENDING and is not",
    })?;
    let after_expiry = false;
    Ok((version, Fact::Committed { after_expiry }))
}

async fn sell_after_expiry(
    conn: &mut PgConnection,
    reservation: &Reservation,
) -> Result<(i64, Fact), StoreError> {
    Ok(
        match reservations::sell_after_expiry(conn, reservation.id).await? {
            SoldAnew::Sold { version } => {
                let after_expiry = true;
                (version, Fact::Committed { after_expiry })
            }
            SoldAnew::Gone {
                version,
                missing_lines,
            } => (version, Fact::CommitRefused { missing_lines }),
        },
    )
}
