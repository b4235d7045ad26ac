//! Undo a charge, whether it came, did not come, comes later, or is just being asked for. The money
//! that it took goes back; one that is still asking is fenced off or followed by a refund.

use sqlx::PgConnection;
use tercet_crash_point::crash_point;
use tercet_inbox::guard::{BackwardAdmission, CommandKey, KeptOutcome, admit_backward};
use tercet_service_kit::owned;
use tercet_telemetry::propagation::current_headers;

use super::{Ack, App, Error, charge_payment::command_ref};
use crate::{
    domain::{CommandRef, Fact, Money, OrderId, PaymentEvent, PaymentId, RefundId, Undo},
    store::{
        outbox::{self, Commands},
        payments::{self, Change, Record, Work},
        refunds,
    },
};

/// The command.
#[derive(Debug, Clone)]
pub struct RefundPayment {
    pub command: CommandKey,
    pub payment_id: PaymentId,
    /// For the tombstone, as is the amount.
    pub order_id: OrderId,
    pub amount: Money,
}

enum Taken {
    /// The money has to go back, and this process has the lease.
    Begun(Box<Record>),
    /// The charge is open: whoever has it finds the undo.
    Remembered,
    /// There was nothing to undo.
    NothingToUndo,
    StillOpen,
    Decided(Box<KeptOutcome>),
}

impl App {
    pub async fn refund_payment(&self, request: RefundPayment) -> Result<Ack, Error> {
        let app = self.clone();
        owned(async move {
            let mut tx = app.inner.pool.begin().await?;
            let taken = app.take_refund(&mut tx, &request).await;
            match &taken {
                Ok(_) => tx.commit().await?,
                Err(_) => tx.rollback().await?,
            }
            let taken = taken?;
            crash_point!("payment.after_refund_open");
            match taken {
                Taken::Begun(record) => app.inner.handover.hand_over(*record),
                Taken::NothingToUndo => app.inner.wake.notify(),
                Taken::Remembered => app.inner.handover.look(),
                Taken::StillOpen => {
                    app.inner.handover.look();
                    return Ok(Ack::InProgress);
                }
                Taken::Decided(outcome) => return Ok(Ack::Decided(outcome)),
            }
            Ok(Ack::Accepted)
        })
        .await?
    }

    async fn take_refund(
        &self,
        conn: &mut PgConnection,
        request: &RefundPayment,
    ) -> Result<Taken, Error> {
        let command = command_ref(request.command.clone());
        match admit_backward(conn, &request.command).await? {
            BackwardAdmission::Fresh { forward_ran: true } => {
                self.undo(conn, request.payment_id, &command).await
            }
            BackwardAdmission::Fresh { forward_ran: false } => {
                self.bury(conn, request, &command).await?;
                Ok(Taken::NothingToUndo)
            }
            BackwardAdmission::Open => {
                payments::hurry(conn, request.payment_id).await?;
                Ok(Taken::StillOpen)
            }
            BackwardAdmission::Decided(outcome) => Ok(Taken::Decided(Box::new(outcome))),
            BackwardAdmission::StaleEpoch { highest } => Err(Error::StaleEpoch { highest }),
        }
    }

    /// The charge was here: act on what it came to, under the payment's lock.
    async fn undo(
        &self,
        conn: &mut PgConnection,
        id: PaymentId,
        command: &CommandRef,
    ) -> Result<Taken, Error> {
        let record = payments::lock(conn, id).await?;
        let record = record.ok_or(Error::PaymentNotFound(id))?;
        let trace_context = current_headers();
        let change = |after, work| Change {
            from: record.payment.status,
            after,
            undo: Some(command),
            work,
            trace_context: Some(&trace_context),
        };
        let lease = &self.inner.lease;
        match record.payment.undo() {
            Undo::Remember(_) => {
                payments::remember_undo(conn, id, command, &trace_context).await?;
                Ok(Taken::Remembered)
            }
            Undo::Begin(after) => {
                let left = after.captured_minor.saturating_sub(after.refunded_minor);
                refunds::open(conn, RefundId::new(), id, left).await?;
                let begun = payments::update(conn, change(&after, Work::Mine), lease).await?;
                Ok(Taken::Begun(Box::new(begun)))
            }
            Undo::Decided(decision) => {
                payments::update(conn, change(&decision.payment, Work::Closed), lease).await?;
                let commands = Commands {
                    charge: record.charge.as_ref(),
                    undo: Some(command),
                };
                for event in &decision.events {
                    outbox::tell(conn, &self.inner.topic, event, commands).await?;
                }
                Ok(Taken::NothingToUndo)
            }
            Undo::AnotherIsOpen => Err(Error::RefundInProgress(id)),
        }
    }

    /// The charge never was here, and from now on finds its door closed.
    async fn bury(
        &self,
        conn: &mut PgConnection,
        request: &RefundPayment,
        command: &CommandRef,
    ) -> Result<(), Error> {
        let (id, order_id) = (request.payment_id, request.order_id);
        payments::insert_tombstone(conn, id, order_id, request.amount).await?;
        let event = PaymentEvent {
            payment_id: id,
            order_id,
            version: 1,
            fact: Fact::Voided { changed: false },
        };
        let commands = Commands {
            charge: None,
            undo: Some(command),
        };
        outbox::tell(conn, &self.inner.topic, &event, commands).await?;
        Ok(())
    }
}
