//! Give a hold back: the undo of a reserve, whether that came, did not come, or comes later.

use sqlx::PgConnection;
use tercet_crash_point::crash_point;
use tercet_inbox::guard::{BackwardAdmission, CommandKey, Direction, admit_backward};
use tercet_service_kit::owned;

use super::{Ack, App, Error, not_fresh_backward};
use crate::{
    domain::{Fact, Movement, OrderId, Release, ReservationEvent, ReservationId, State},
    store::{StoreError, outbox, reservations},
};

impl App {
    #[tracing::instrument(skip_all, fields(
        tercet.saga.id = %command.saga_id,
        tercet.command.id = command.command_id,
        tercet.order.id = %order_id,
    ))]
    pub async fn release_reservation(
        &self,
        command: CommandKey,
        id: ReservationId,
        order_id: OrderId,
    ) -> Result<Ack, Error> {
        let app = self.clone();
        owned(async move {
            let mut tx = app.inner.pool.begin().await?;
            let ack = app.release(&mut tx, &command, id, order_id).await;
            let ack = app.close(tx, ack).await?;
            crash_point!("inventory.after_release_commit");
            Ok(ack)
        })
        .await?
    }

    async fn release(
        &self,
        conn: &mut PgConnection,
        command: &CommandKey,
        id: ReservationId,
        order_id: OrderId,
    ) -> Result<Ack, Error> {
        let forward_ran = match admit_backward(conn, command).await? {
            BackwardAdmission::Fresh { forward_ran } => forward_ran,
            other => return not_fresh_backward(other),
        };
        let event = if forward_ran {
            give_back(conn, id).await?
        } else {
            // The door is closed now: whenever the reserve comes, it finds the guard undone.
            reservations::insert_tombstone(conn, id, order_id).await?;
            released(id, order_id, 1, false)
        };
        let topic = &self.inner.topic;
        outbox::decide(conn, topic, &event, command, Direction::Backward).await?;
        Ok(Ack::Accepted)
    }
}

async fn give_back(conn: &mut PgConnection, id: ReservationId) -> Result<ReservationEvent, Error> {
    let reservation = reservations::lock(conn, id)
        .await?
        .ok_or(Error::ReservationNotFound(id))?;
    let (version, changed) = match reservation.release()? {
        Release::GiveBack => {
            let (state, movement) = (State::Released, Movement::Released);
            let version = reservations::end_hold(conn, id, state, movement).await?;
            let version = version.ok_or(StoreError::Inconsistent {
                id,
                what: "was locked as PENDING and is not",
            })?;
            (version, true)
        }
        Release::NothingHeld => (reservations::touch(conn, id).await?, false),
    };
    Ok(released(id, reservation.order_id, version, changed))
}

fn released(id: ReservationId, order_id: OrderId, version: i64, changed: bool) -> ReservationEvent {
    ReservationEvent {
        reservation_id: id,
        order_id,
        version,
        fact: Fact::Released { changed },
    }
}
