//! Hold a whole basket for an order, or nothing of it. One transaction: guard, stock, reservation,
//! journal, outcome. A refusal is an outcome like any other.

use std::time::Duration;

use sqlx::PgConnection;
use tercet_crash_point::crash_point;
use tercet_inbox::guard::{Admission, CommandKey, Direction, admit_forward};
use tercet_service_kit::owned;

use super::{Ack, App, Error, not_fresh};
use crate::{
    domain::{Basket, Fact, OrderId, ReservationEvent, ReservationId},
    store::{outbox, reservations, reservations::Reserved},
};

/// The command.
#[derive(Debug, Clone)]
pub struct ReserveStock {
    pub command: CommandKey,
    /// Chosen by the saga.
    pub reservation_id: ReservationId,
    pub order_id: OrderId,
    pub basket: Basket,
    /// How long the hold shall last; capped.
    pub hold: Duration,
}

impl App {
    #[tracing::instrument(skip_all, fields(
        tercet.saga.id = %request.command.saga_id,
        tercet.command.id = request.command.command_id,
        tercet.order.id = %request.order_id,
    ))]
    pub async fn reserve_stock(&self, request: ReserveStock) -> Result<Ack, Error> {
        let app = self.clone();
        owned(async move {
            let mut tx = app.inner.pool.begin().await?;
            let ack = app.reserve(&mut tx, &request).await;
            let ack = app.close(tx, ack).await?;
            crash_point!("inventory.after_reserve_commit");
            Ok(ack)
        })
        .await?
    }

    async fn reserve(&self, conn: &mut PgConnection, request: &ReserveStock) -> Result<Ack, Error> {
        match admit_forward(conn, &request.command).await? {
            Admission::Fresh => {}
            other => return not_fresh(other), // and locks no stock
        }
        let hold = request.hold.min(self.inner.hold_max);
        let reserved = reservations::reserve(
            conn,
            request.reservation_id,
            request.order_id,
            &request.basket,
            hold.as_secs_f64(),
        )
        .await?;
        let fact = match reserved {
            Reserved::Held { expires_at } => Fact::Reserved {
                lines: request.basket.lines().collect(),
                expires_at,
            },
            Reserved::Refused { missing_lines } => Fact::ReservationRefused { missing_lines },
        };
        let event = ReservationEvent {
            reservation_id: request.reservation_id,
            order_id: request.order_id,
            version: 1,
            fact,
        };
        let topic = &self.inner.topic;
        outbox::decide(conn, topic, &event, &request.command, Direction::Forward).await?;
        Ok(Ack::Accepted)
    }
}
