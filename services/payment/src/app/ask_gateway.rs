//! One try at the processor for one payment: which calls, in which order, and what their answers
//! come to. Nothing is written here.
//!
//! | The payment is | and | so |
//! |---|---|---|
//! | CHARGING, `OUTCOME_UNKNOWN` | still wanted | create (again), confirm (again) under its one key |
//! | CHARGING, `OUTCOME_UNKNOWN` | an undo waits | find the intent and cancel it: a late confirm takes nothing |
//! | REFUNDING | first try | ask for the refund |
//! | REFUNDING | later ones | look at the list of refunds first |

use std::sync::Arc;

use tercet_crash_point::crash_point;

use super::write_down::Learned;
use crate::{
    domain::{Call, ChargeAnswer, NextTry, Operation, Payment, Reason, Refund, RefundState},
    gateway::{Failure, Gateway, Intent, IntentId, IntentState, NewIntent, NewRefund, Silence},
    store::payments::Record,
};

/// The processor, and what was asked of it in this try.
#[derive(Debug)]
pub(super) struct Try<G> {
    gateway: Arc<G>,
    pub(super) calls: Vec<Call>,
    /// The charge's intent, as soon as it is known.
    pub(super) intent_id: Option<String>,
}

impl<G: Gateway> Try<G> {
    pub(super) fn new(gateway: Arc<G>) -> Self {
        Self {
            gateway,
            calls: Vec::new(),
            intent_id: None,
        }
    }

    /// Takes the money, or finds out whether it was taken.
    pub(super) async fn charge(&mut self, record: &Record) -> Learned {
        let payment_id = record.payment.id;
        let intent = match self.intent(record).await {
            Ok(intent) => intent,
            Err(learned) => return learned,
        };
        let confirmed = self.gateway.confirm_intent(&intent, payment_id).await;
        self.note_intent(Operation::Confirm, &confirmed);
        crash_point!("payment.after_gateway_confirm");
        match confirmed {
            Ok(intent) => charge_answer(intent.state),
            // Nobody knows what a call came to that is not over. Ask again, under the same key.
            Err(Failure::Unknown {
                silence: Silence::NotSent | Silence::TimedOut,
                ..
            }) => silence(),
            // It is over, and its answer says nothing, today or ever: look at what it did.
            Err(_) => self.look(&intent).await,
        }
    }

    /// Sees to it that nothing is taken any more, or finds out that it was.
    pub(super) async fn fence(&mut self, record: &Record) -> Learned {
        let intent = match self.intent(record).await {
            Ok(intent) => intent,
            Err(learned) => return learned,
        };
        let cancelled = self.gateway.cancel_intent(&intent).await;
        self.note_intent(Operation::Cancel, &cancelled);
        crash_point!("payment.after_gateway_cancel");
        match cancelled {
            Ok(intent) => charge_answer(intent.state),
            Err(Failure::Unknown {
                silence: Silence::NotSent | Silence::TimedOut,
                ..
            }) => silence(),
            Err(_) => self.look(&intent).await,
        }
    }

    /// Gives the money back, once.
    pub(super) async fn refund(&mut self, record: &Record, refund: Refund) -> Learned {
        let Some(intent_id) = record.payment.gateway_intent_id.clone() else {
            // A payment that was charged knows its intent.
            tracing::error!(tercet.payment.id = %record.payment.id, "a charge without an intent");
            return Learned::Silence(Reason::from_code("INTENT_NOT_KNOWN"));
        };
        let intent = IntentId(intent_id);
        // Also a claim that died counts as a try: it may have got as far as the processor.
        if record.attempts > 1 {
            let listed = self.gateway.list_refunds(&intent).await;
            let result = listed.as_ref().map(|_| "LISTED");
            self.note(Operation::ListRefunds, result);
            match listed.map(|listed| refund.next_try(&listed)) {
                Ok(NextTry::Ask) => {}
                Ok(NextTry::Succeeded) => return Learned::Refunded(refund),
                Ok(NextTry::Poll) => return pending(),
                Ok(NextTry::TakeNextKey) => return Learned::KeyTooOld(refund),
                Err(_) => return silence(),
            }
        }
        self.ask_refund(&record.payment, intent, refund).await
    }

    async fn ask_refund(&mut self, payment: &Payment, intent: IntentId, refund: Refund) -> Learned {
        let asked = NewRefund {
            payment_id: payment.id,
            intent,
            refund_id: refund.id,
            amount_minor: refund.amount_minor,
            idempotency_key: refund.idempotency_key(payment.id),
        };
        let answer = self.gateway.create_refund(&asked).await;
        let result = answer.as_ref().map(|state| match state {
            RefundState::Succeeded => "SUCCEEDED",
            RefundState::Pending => "PENDING",
            RefundState::Failed => "FAILED",
        });
        self.note(Operation::Refund, result);
        crash_point!("payment.after_gateway_refund");
        match answer {
            Ok(RefundState::Succeeded) => Learned::Refunded(refund),
            Ok(RefundState::Pending) => pending(),
            Ok(RefundState::Failed) => Learned::KeySpent {
                refund,
                reason: Reason::from_code("REFUND_FAILED"),
                is_refusal: false,
            },
            Err(Failure::Refused { reason, .. }) => Learned::KeySpent {
                refund,
                reason,
                is_refusal: true,
            },
            Err(Failure::Unknown { .. }) => silence(),
        }
    }

    /// The payment's intent. Its id is not saved before the confirm, which would cost a commit: the
    /// create, repeated under its key, tells it again for as long as the processor keeps the key.
    async fn intent(&mut self, record: &Record) -> Result<IntentId, Learned> {
        if let Some(id) = &record.payment.gateway_intent_id {
            return Ok(IntentId(id.clone()));
        }
        let Some(payment_method) = &record.payment_method else {
            return Err(silence()); // a tombstone, which is never open
        };
        if record.create_key_is_old {
            return self.find(record).await?.ok_or_else(|| not_found(record));
        }
        let created = self
            .gateway
            .create_intent(&NewIntent {
                payment_id: record.payment.id,
                amount: record.payment.amount,
                payment_method: payment_method.clone(),
            })
            .await;
        self.note_intent(Operation::CreateIntent, &created);
        match created {
            Ok(intent) => Ok(self.keep(intent.id)),
            Err(Failure::Unknown { .. }) => Err(silence()),
            // Nothing was created, so nothing can be confirmed: unless an earlier try was luckier.
            Err(Failure::Refused { reason, .. }) if record.attempts == 1 => {
                Err(Learned::Charge(ChargeAnswer::Declined(reason)))
            }
            Err(Failure::Refused { reason, .. }) => match self.find(record).await? {
                Some(intent) => Ok(intent),
                None if record.search_is_settled => {
                    Err(Learned::Charge(ChargeAnswer::Declined(reason)))
                }
                // The processor's index may be behind. "Not found" alone closes nothing.
                None => Err(silence()),
            },
        }
    }

    /// Looks the intent up by our id, where the create must not be repeated.
    async fn find(&mut self, record: &Record) -> Result<Option<IntentId>, Learned> {
        let found = self.gateway.find_intents(record.payment.id).await;
        let result = found
            .as_ref()
            .map(|found| if found.is_empty() { "NONE" } else { "FOUND" });
        self.note(Operation::FindIntents, result);
        let intents = found.map_err(|_| silence())?;
        // There is one. Were there more, the one that took money is the one that matters.
        let best = intents.into_iter().min_by_key(|intent| match intent.state {
            IntentState::Succeeded => 0,
            IntentState::Open => 1,
            IntentState::Declined(_) => 2,
            IntentState::Canceled => 3,
        });
        Ok(best.map(|intent| self.keep(intent.id)))
    }

    async fn look(&mut self, intent: &IntentId) -> Learned {
        let found = self.gateway.retrieve_intent(intent).await;
        self.note_intent(Operation::RetrieveIntent, &found);
        found.map_or_else(|_| silence(), |intent| charge_answer(intent.state))
    }

    fn keep(&mut self, id: IntentId) -> IntentId {
        self.intent_id = Some(id.0.clone());
        id
    }

    fn note_intent(&mut self, operation: Operation, answer: &Result<Intent, Failure>) {
        let result = answer.as_ref().map(|intent| match &intent.state {
            IntentState::Succeeded => "SUCCEEDED",
            IntentState::Declined(_) => "DECLINED",
            IntentState::Canceled => "CANCELED",
            IntentState::Open => "OPEN",
        });
        self.note(operation, result);
    }

    fn note(&mut self, operation: Operation, result: Result<&'static str, &Failure>) {
        let (result, detail) = match result {
            Ok(result) => (result, None),
            Err(Failure::Refused { detail, .. }) => ("REFUSED", Some(detail.clone())),
            Err(Failure::Unknown { silence, detail }) => {
                let result = match silence {
                    Silence::NotSent => "NO_ANSWER",
                    Silence::TimedOut => "TIMED_OUT",
                    Silence::Answered => "UNKNOWN",
                };
                (result, Some(detail.clone()))
            }
        };
        self.calls.push(Call {
            operation,
            result,
            detail,
        });
    }
}

fn charge_answer(state: IntentState) -> Learned {
    match state {
        IntentState::Succeeded => Learned::Charge(ChargeAnswer::Taken),
        IntentState::Declined(reason) => Learned::Charge(ChargeAnswer::Declined(reason)),
        IntentState::Canceled => Learned::Charge(ChargeAnswer::Canceled),
        IntentState::Open => silence(),
    }
}

/// One word for all kinds of silence: a reason that changed with each try would be told each time.
fn silence() -> Learned {
    Learned::Silence(Reason::from_code("GATEWAY_UNAVAILABLE"))
}

fn pending() -> Learned {
    Learned::Silence(Reason::from_code("REFUND_PENDING"))
}

/// Either the create never reached the processor, or its index has lost it. Only a person can tell.
fn not_found(record: &Record) -> Learned {
    tracing::error!(
        tercet.payment.id = %record.payment.id,
        "a charge of more than 23 hours ago is not known to the processor: it stays open"
    );
    Learned::Silence(Reason::from_code("INTENT_NOT_FOUND"))
}
