//! The port to the card processor: what a payment needs of one, and what its answers can mean.
//!
//! An answer is either certain or [`Failure::Unknown`]. What is certain: an intent or a refund in a
//! state, or a refusal that says that nothing was done. A timeout, a 5xx, a key in use, a "not found"
//! say nothing of what was done, and nothing is concluded from them.

mod http;
mod wire;

use crate::domain::{Listed, Money, PaymentId, PaymentMethod, Reason, RefundId, RefundState};

pub use http::{HttpGateway, InvalidGateway};

/// The processor's id of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentId(pub String);

/// A charge that has not been asked for yet: creating it takes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIntent {
    pub payment_id: PaymentId,
    pub amount: Money,
    pub payment_method: PaymentMethod,
}

/// A charge as the processor knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub id: IntentId,
    pub state: IntentState,
}

/// How far a charge is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntentState {
    Succeeded,
    /// The card said no, for this reason.
    Declined(Reason),
    /// Nothing can be taken any more.
    Canceled,
    /// Nothing was taken so far; a confirm that is under way may still take it.
    Open,
}

/// A refund that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRefund {
    pub payment_id: PaymentId,
    pub intent: IntentId,
    pub refund_id: RefundId,
    pub amount_minor: i64,
    pub idempotency_key: String,
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The processor says no: this call did nothing, and repeating it under its key does nothing.
    #[error("the processor refused: {detail}")]
    Refused { reason: Reason, detail: String },
    /// Whether it did anything is not known.
    #[error("{detail}")]
    Unknown { silence: Silence, detail: String },
}

/// How a call came to tell nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// No connection: the call was not sent.
    NotSent,
    /// No answer in time, or the connection broke.
    TimedOut,
    /// There was an answer, and it settles nothing.
    Answered,
}

/// The card processor. Calls may last as long as the adapter's timeout, and may be repeated.
pub trait Gateway: Send + Sync + 'static {
    /// Key `create:{payment_id}`: a repetition gets the same intent.
    fn create_intent(
        &self,
        intent: &NewIntent,
    ) -> impl Future<Output = Result<Intent, Failure>> + Send;

    /// Takes the money. Key `charge:{payment_id}`, the only one it is ever asked under.
    fn confirm_intent(
        &self,
        intent: &IntentId,
        payment_id: PaymentId,
    ) -> impl Future<Output = Result<Intent, Failure>> + Send;

    /// The fence: once it says Canceled, a confirm that comes late takes nothing.
    fn cancel_intent(
        &self,
        intent: &IntentId,
    ) -> impl Future<Output = Result<Intent, Failure>> + Send;

    /// Looks.
    fn retrieve_intent(
        &self,
        intent: &IntentId,
    ) -> impl Future<Output = Result<Intent, Failure>> + Send;

    /// All intents of a payment that the processor's index knows by now.
    fn find_intents(
        &self,
        payment_id: PaymentId,
    ) -> impl Future<Output = Result<Vec<Intent>, Failure>> + Send;

    /// Gives the money back.
    fn create_refund(
        &self,
        refund: &NewRefund,
    ) -> impl Future<Output = Result<RefundState, Failure>> + Send;

    /// All refunds of a charge, whoever asked for them.
    fn list_refunds(
        &self,
        intent: &IntentId,
    ) -> impl Future<Output = Result<Vec<Listed>, Failure>> + Send;
}
