//! What was learned at the processor, made true here: one transaction for what the payment becomes,
//! what there is to tell, the kept outcomes, and the calls that led to it.
//!
//! The guards of the command are locked first, then the payment, in the order in which an undo takes
//! them. What the worker believed when it asked does not count: the row under its lock does.

use std::time::Duration;

use sqlx::PgConnection;
use tercet_crash_point::crash_point;
use tercet_inbox::guard::lock_step;

use super::{App, Error};
use crate::{
    domain::{Call, ChargeAnswer, Decision, Reason, Refund, RefundId, Status, pause},
    store::{
        gateway_attempts,
        outbox::{self, Commands},
        payments::{self, Change, Record, Work},
        refunds,
    },
};

/// What a try came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Learned {
    Charge(ChargeAnswer),
    Refunded(Refund),
    /// Nothing that settles it.
    Silence(Reason),
    /// The refund came to nothing, or was refused, and its key is spent.
    KeySpent {
        refund: Refund,
        reason: Reason,
        is_refusal: bool,
    },
    /// The processor may have forgotten the refund's key, and lists nothing of ours.
    KeyTooOld(Refund),
}

impl App {
    /// The payment, if the caller goes on with it under its lease.
    pub(super) async fn write_down(
        &self,
        claim: &Record,
        intent_id: Option<&str>,
        learned: &Learned,
        calls: &[Call],
        cycle: Duration,
    ) -> Result<Option<Record>, Error> {
        let mut tx = self.inner.pool.begin().await?;
        let written = self.decide(&mut tx, claim, intent_id, learned, cycle).await;
        let written = match written {
            Ok(next) => {
                let (id, attempt) = (claim.payment.id, claim.attempts);
                let recorded = gateway_attempts::record(&mut tx, id, attempt, calls).await;
                recorded.map(|()| next).map_err(Error::from)
            }
            Err(error) => Err(error),
        };
        match &written {
            Ok(_) => tx.commit().await?,
            Err(_) => tx.rollback().await?,
        }
        let next = written?;
        match learned {
            Learned::Charge(_) => crash_point!("payment.after_charge_mark"),
            Learned::Refunded(_) => crash_point!("payment.after_refund_mark"),
            Learned::Silence(_) | Learned::KeySpent { .. } | Learned::KeyTooOld(_) => {}
        }
        self.inner.wake.notify();
        Ok(next)
    }

    async fn decide(
        &self,
        conn: &mut PgConnection,
        claim: &Record,
        intent_id: Option<&str>,
        learned: &Learned,
        cycle: Duration,
    ) -> Result<Option<Record>, Error> {
        let id = claim.payment.id;
        // The undo of a charge has the same saga and step, and so do its guards.
        if let Some(charge) = &claim.charge {
            lock_step(conn, charge.saga_id, &charge.step).await?;
        }
        let now = payments::lock(conn, id).await?;
        let now = now.ok_or(Error::PaymentNotFound(id))?;
        let Some((mut decision, work)) = decide(&now, claim, learned, cycle) else {
            return Ok(None);
        };
        if let Some(intent_id) = intent_id {
            decision.payment.gateway_intent_id = Some(intent_id.to_owned());
        }
        match learned {
            Learned::Refunded(refund) => refunds::succeed(conn, refund.id).await?,
            Learned::KeySpent { refund, .. } | Learned::KeyTooOld(refund) => {
                refunds::take_next_key(conn, refund).await?;
            }
            Learned::Charge(_) if decision.payment.status == Status::Refunding => {
                let left = decision.payment.captured_minor;
                refunds::open(conn, RefundId::new(), id, left).await?;
            }
            Learned::Charge(_) | Learned::Silence(_) => {}
        }
        let change = Change {
            from: now.payment.status,
            after: &decision.payment,
            undo: now.undo.as_ref(),
            work,
            trace_context: None,
        };
        let after = payments::update(conn, change, &self.inner.lease).await?;
        let commands = Commands {
            charge: now.charge.as_ref(),
            undo: now.undo.as_ref(),
        };
        for event in &decision.events {
            outbox::tell(conn, &self.inner.topic, event, commands).await?;
        }
        Ok((work == Work::Mine).then_some(after))
    }
}

/// `now` is the row under its lock, `claim` what the worker had. `None`: there is nothing left to
/// decide, because somebody else did, or has the payment now and will.
fn decide(
    now: &Record,
    claim: &Record,
    learned: &Learned,
    cycle: Duration,
) -> Option<(Decision, Work)> {
    // What is certain counts from whoever brings it; the rest only from who holds the claim.
    let holds_claim = now.payment.status == claim.payment.status && now.attempts == claim.attempts;
    match learned {
        Learned::Charge(answer) => {
            let decision = now.payment.charge_answered(answer.clone())?;
            let goes_on = decision.payment.status.is_open();
            let work = if goes_on { Work::Mine } else { Work::Closed };
            Some((decision, work))
        }
        Learned::Refunded(_) => Some((now.payment.refunded()?, Work::Closed)),
        _ if !holds_claim => None,
        Learned::Silence(reason) => {
            let decision = now.payment.unanswered(reason.clone())?;
            // An undo that came meanwhile does not wait: it has not tried its own way yet.
            let is_news = now.payment.undo_wanted && !claim.payment.undo_wanted;
            let pause = pause::after_silence(claim.attempts, cycle);
            let work = if is_news {
                Work::Mine
            } else {
                Work::Later(pause)
            };
            Some((decision, work))
        }
        Learned::KeySpent {
            refund,
            reason,
            is_refusal,
        } => {
            let refusals = refund.key_number.saturating_add(1);
            Some(if *is_refusal {
                let decision = now.payment.refund_refused(reason.clone())?;
                (decision, Work::Later(pause::after_refusal(refusals, cycle)))
            } else {
                let decision = now.payment.unanswered(reason.clone())?;
                (decision, Work::Later(pause::after_silence(refusals, cycle)))
            })
        }
        Learned::KeyTooOld(_) => {
            let payment = now.payment.clone();
            let events = Vec::new();
            Some((Decision { payment, events }, Work::Mine))
        }
    }
}
