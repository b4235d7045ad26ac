//! A payment, and every decision about it: pure functions from what it is to what it becomes.
//!
//! Whoever learns something loads the payment under its lock and asks here. `None` means that
//! somebody else was faster and there is nothing left to decide.

#![warn(clippy::arithmetic_side_effects, clippy::as_conversions)]

use time::OffsetDateTime;

use crate::domain::{Fact, Money, OrderId, PaymentEvent, PaymentId, Reason, Status};

/// A payment as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    pub id: PaymentId,
    pub order_id: OrderId,
    pub status: Status,
    /// What was asked for.
    pub amount: Money,
    pub captured_minor: i64,
    pub refunded_minor: i64,
    pub decline_reason: Option<Reason>,
    /// The processor's id of the charge, once it is known.
    pub gateway_intent_id: Option<String>,
    /// An undo was asked for: it waits for the charge's answer, or is being done.
    pub undo_wanted: bool,
    /// The delay that was told last.
    pub told: Option<Reason>,
    pub version: i64,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
}

/// What the processor said of a charge, for certain. Silence and errors are none of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeAnswer {
    Taken,
    Declined(Reason),
    /// The intent is cancelled: whatever still is under way cannot take anything.
    Canceled,
}

/// A payment after a decision, and what there is to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub payment: Payment,
    pub events: Vec<PaymentEvent>,
}

/// What an undo comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undo {
    /// Whoever learns the charge's answer decides in the same transaction.
    Remember(Payment),
    /// The money has to go back.
    Begin(Payment),
    /// Nothing to do; the answer is here.
    Decided(Decision),
    /// Another undo is being done.
    AnotherIsOpen,
}

impl Payment {
    /// The answer to the charge. With an undo waiting, both are decided at once: there is no moment
    /// in which the payment is CHARGED and nobody remembers that it must go back.
    #[must_use]
    pub fn charge_answered(&self, answer: ChargeAnswer) -> Option<Decision> {
        match self.status {
            Status::Charging | Status::OutcomeUnknown => {}
            _ => return None,
        }
        let mut after = self.clone();
        let mut facts = Vec::with_capacity(2);
        match answer {
            ChargeAnswer::Taken => {
                after.captured_minor = self.amount.minor();
                after.status = Status::Charged;
                facts.push(Fact::Charged {
                    amount: self.amount,
                });
                if self.undo_wanted {
                    after.status = Status::Refunding;
                }
            }
            ChargeAnswer::Canceled if self.undo_wanted => {
                after.status = Status::Voided;
                facts.push(Fact::Voided { changed: true });
            }
            // Nobody of ours cancels what is wanted: somebody did at the processor.
            ChargeAnswer::Canceled => {
                after.decline(Reason::from_code("CHARGE_CANCELED"), &mut facts);
            }
            ChargeAnswer::Declined(reason) => after.decline(reason, &mut facts),
        }
        Some(after.tell(facts))
    }

    fn decline(&mut self, reason: Reason, facts: &mut Vec<Fact>) {
        self.status = Status::Declined;
        self.decline_reason = Some(reason.clone());
        facts.push(Fact::Declined { reason });
        if self.undo_wanted {
            facts.push(Fact::Voided { changed: false });
        }
    }

    /// The undo of the charge, asked for the first time.
    #[must_use]
    pub fn undo(&self) -> Undo {
        let mut after = self.clone();
        after.undo_wanted = true;
        match self.status {
            Status::Charging | Status::OutcomeUnknown | Status::Refunding if self.undo_wanted => {
                Undo::AnotherIsOpen
            }
            Status::Charging | Status::OutcomeUnknown => Undo::Remember(after),
            Status::Charged => {
                after.status = Status::Refunding;
                Undo::Begin(after)
            }
            Status::Declined | Status::Voided => {
                Undo::Decided(after.tell([Fact::Voided { changed: false }]))
            }
            Status::Refunding => Undo::AnotherIsOpen,
            Status::Refunded => {
                let amount = self.amount;
                let changed = false;
                Undo::Decided(after.tell([Fact::Refunded { amount, changed }]))
            }
        }
    }

    /// The money is back.
    #[must_use]
    pub fn refunded(&self) -> Option<Decision> {
        if self.status != Status::Refunding {
            return None;
        }
        let mut after = self.clone();
        after.status = Status::Refunded;
        after.refunded_minor = self.captured_minor;
        Some(after.tell([Fact::Refunded {
            amount: self.amount,
            changed: true,
        }]))
    }

    /// The processor did not say what became of the last call. A waiting undo hears of it, once for
    /// each reason.
    #[must_use]
    pub fn unanswered(&self, reason: Reason) -> Option<Decision> {
        let mut after = self.clone();
        if self.status == Status::Charging {
            after.status = Status::OutcomeUnknown;
        }
        self.status
            .is_open()
            .then(|| after.meanwhile(reason, |reason| Fact::RefundDelayed { reason }))
    }

    /// The processor refuses to give the money back.
    #[must_use]
    pub fn refund_refused(&self, reason: Reason) -> Option<Decision> {
        (self.status == Status::Refunding).then(|| {
            self.clone()
                .meanwhile(reason, |reason| Fact::RefundRefused { reason })
        })
    }

    fn meanwhile(mut self, reason: Reason, fact: impl FnOnce(Reason) -> Fact) -> Decision {
        // One event for each change, not one for each try: an outage may last for days.
        let news = self.undo_wanted && self.told.as_ref() != Some(&reason);
        if !news {
            return self.tell([]);
        }
        self.told = Some(reason.clone());
        self.tell([fact(reason)])
    }

    /// Each event takes the next version.
    fn tell(mut self, facts: impl IntoIterator<Item = Fact>) -> Decision {
        let mut events = Vec::new();
        for fact in facts {
            self.version = self.version.saturating_add(1);
            events.push(PaymentEvent {
                payment_id: self.id,
                order_id: self.order_id,
                version: self.version,
                fact,
            });
        }
        Decision {
            payment: self,
            events,
        }
    }
}

#[cfg(test)]
#[path = "payment/tests.rs"]
mod tests;
