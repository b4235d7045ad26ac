//! Take a charge on. One transaction: guard and payment, leased to this process; nobody waits here
//! for the processor. The worker asks it, and the answer is the outcome.

use sqlx::PgConnection;
use tercet_crash_point::crash_point;
use tercet_inbox::guard::{Admission, CommandKey, KeptOutcome, admit_forward};
use tercet_service_kit::owned;
use tercet_telemetry::propagation::current_headers;

use super::{Ack, App, Error};
use crate::{
    domain::{CommandRef, Money, OrderId, PaymentId, PaymentMethod},
    store::payments::{self, NewPayment, Record},
};

/// The command.
#[derive(Debug, Clone)]
pub struct ChargePayment {
    pub command: CommandKey,
    /// Chosen by the saga.
    pub payment_id: PaymentId,
    pub order_id: OrderId,
    pub amount: Money,
    pub payment_method: PaymentMethod,
}

enum Taken {
    Opened(Box<Record>),
    StillOpen,
    Decided(Box<KeptOutcome>),
}

impl App {
    pub async fn charge_payment(&self, request: ChargePayment) -> Result<Ack, Error> {
        let app = self.clone();
        owned(async move {
            let mut tx = app.inner.pool.begin().await?;
            let taken = app.take_charge(&mut tx, request).await;
            // A rollback that is only dropped keeps its locks until a spawned task gets a turn.
            match &taken {
                Ok(_) => tx.commit().await?,
                Err(_) => tx.rollback().await?,
            }
            match taken? {
                Taken::Opened(record) => {
                    crash_point!("payment.after_charge_open");
                    app.inner.handover.hand_over(*record);
                    Ok(Ack::Accepted)
                }
                Taken::StillOpen => {
                    app.inner.handover.look();
                    Ok(Ack::InProgress)
                }
                Taken::Decided(outcome) => Ok(Ack::Decided(outcome)),
            }
        })
        .await?
    }

    async fn take_charge(
        &self,
        conn: &mut PgConnection,
        request: ChargePayment,
    ) -> Result<Taken, Error> {
        match admit_forward(conn, &request.command).await? {
            Admission::Fresh => {}
            Admission::Open => {
                payments::hurry(conn, request.payment_id).await?;
                return Ok(Taken::StillOpen);
            }
            Admission::Decided(outcome) => return Ok(Taken::Decided(Box::new(outcome))),
            Admission::Undone => return Err(Error::AlreadyUndone),
            Admission::StaleEpoch { highest } => return Err(Error::StaleEpoch { highest }),
        }
        let new = NewPayment {
            id: request.payment_id,
            order_id: request.order_id,
            amount: request.amount,
            payment_method: request.payment_method,
            charge: command_ref(request.command),
        };
        let opened = payments::open(conn, &new, &self.inner.lease, &current_headers()).await?;
        Ok(Taken::Opened(Box::new(opened)))
    }
}

/// What of a command is kept until its outcome; its epoch is the guard's.
pub(super) fn command_ref(command: CommandKey) -> CommandRef {
    CommandRef {
        saga_id: command.saga_id,
        step: command.step,
        command_id: command.command_id,
    }
}
