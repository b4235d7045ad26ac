//! One leased payment, taken as far as it goes now: asked at the processor, written down, and on to
//! the next phase if there is one.

use std::error::Error as _;

use tercet_telemetry::propagation;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tracing::Instrument;

use super::{Error, Worker, ask_gateway::Try, write_down::Learned};
use crate::{
    domain::{Payment, Reason, Refund, Status},
    gateway::Gateway,
    store::{
        StoreError,
        payments::{self, Record},
        refunds,
    },
};

/// Charge, undo, a spent key or two: a payment that goes on longer is left to its next claim.
const STEPS_MAX: usize = 8;

impl<G: Gateway> Worker<G> {
    /// Never fails: what cannot be done now is done by whoever claims the payment next.
    pub(super) async fn advance(&self, record: Record) {
        let span = tracing::info_span!(
            "advance_payment",
            tercet.order.id = %record.payment.order_id,
            tercet.payment.id = %record.payment.id,
            tercet.saga.id = record.charge.as_ref().map(|charge| charge.saga_id.to_string()),
        );
        propagation::set_parent(&span, &record.trace_context);
        async {
            if let Err(error) = self.advance_to_rest(record).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    cause = error.source(),
                    "the payment is left to its next claim"
                );
            }
        }
        .instrument(span)
        .await;
    }

    async fn advance_to_rest(&self, mut record: Record) -> Result<(), Error> {
        for _ in 0..STEPS_MAX {
            match self.step(&record).await? {
                Some(next) => record = next,
                None => break,
            }
        }
        Ok(())
    }

    /// One try, and what is left to do under the same lease.
    async fn step(&self, record: &Record) -> Result<Option<Record>, Error> {
        let mut attempt = Try::new(self.gateway());
        let learned = match (record.payment.status, record.payment.undo_wanted) {
            (Status::Charging | Status::OutcomeUnknown, false) => {
                self.leased(record, attempt.charge(record)).await
            }
            (Status::Charging | Status::OutcomeUnknown, true) => {
                self.leased(record, attempt.fence(record)).await
            }
            (Status::Refunding, _) => match self.still_refunding(record).await? {
                Some(refund) => self.leased(record, attempt.refund(record, refund)).await,
                None => return Ok(None),
            },
            (Status::Charged | Status::Declined | Status::Voided | Status::Refunded, _) => {
                return Ok(None);
            }
        };
        tell(&record.payment, &learned, &attempt);
        let (intent, calls) = (attempt.intent_id.as_deref(), &attempt.calls);
        self.app()
            .write_down(record, intent, &learned, calls, self.cycle())
            .await
    }

    /// The status is checked before the processor is called, not only when the answer is written
    /// down: money that is back already must not be asked for again.
    async fn still_refunding(&self, record: &Record) -> Result<Option<Refund>, Error> {
        let id = record.payment.id;
        let mut conn = self.app().inner.pool.acquire().await?;
        let now = payments::find(&mut conn, id).await?;
        let is_ours = now.is_some_and(|now| {
            now.payment.status == Status::Refunding && now.attempts == record.attempts
        });
        if !is_ours {
            return Ok(None);
        }
        let refund = refunds::find_open(&mut conn, id).await?;
        Ok(Some(refund.ok_or(StoreError::NoOpenRefund(id))?))
    }

    /// Keeps the lease for as long as the processor takes. A lease that is lost nevertheless costs a
    /// call too many, under the same key; what it learned is judged when it is written down.
    async fn leased(&self, record: &Record, call: impl Future<Output = Learned>) -> Learned {
        let lease = &self.app().inner.lease;
        let every = lease.length / 2;
        let mut renewal = interval_at(Instant::now() + every, every);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut call = std::pin::pin!(call);
        loop {
            tokio::select! {
                biased;
                learned = &mut call => return learned,
                _ = renewal.tick() => {}
            }
            // Beside the call, which must go on while the database is slow.
            tokio::select! {
                biased;
                learned = &mut call => return learned,
                () = self.renew(record) => {}
            }
        }
    }

    async fn renew(&self, record: &Record) {
        let (id, attempts) = (record.payment.id, record.attempts);
        let app = self.app().clone();
        // Owned: it is dropped when the call ends first, and a statement is not to be cut off.
        let renewed = tercet_service_kit::owned(async move {
            let mut conn = app.inner.pool.acquire().await?;
            payments::renew_lease(&mut conn, id, attempts, &app.inner.lease).await
        })
        .await;
        match renewed {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => tracing::warn!("the lease is lost; another worker has the payment"),
            Ok(Err(error)) => tracing::warn!(%error, "the lease was not renewed"),
            Err(error) => tracing::warn!(%error, "the lease was not renewed"),
        }
    }
}

/// A line for what an operator would want to know; a happy payment says nothing here.
fn tell<G>(payment: &Payment, learned: &Learned, attempt: &Try<G>) {
    let last = attempt.calls.last();
    let call = last.map(|call| call.operation.as_str());
    let detail = last.and_then(|call| call.detail.as_deref());
    let status = payment.status.as_str();
    let (reason, what): (&Reason, &str) = match learned {
        Learned::Charge(_) | Learned::Refunded(_) | Learned::KeyTooOld(_) => return,
        Learned::Silence(reason) => (reason, "the processor left it open; it is asked again"),
        Learned::KeySpent {
            reason,
            is_refusal: false,
            ..
        } => (
            reason,
            "the refund failed; it is asked for under the next key",
        ),
        Learned::KeySpent { reason, .. } => {
            tracing::error!(%reason, status, call, detail, "the processor refuses the refund");
            return;
        }
    };
    tracing::warn!(%reason, status, call, detail, what);
}
