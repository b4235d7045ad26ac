//! What happened to a payment.

use crate::domain::{Money, OrderId, PaymentId, Reason};

/// One event of one payment. `version` was taken under the payment's row lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentEvent {
    pub payment_id: PaymentId,
    pub order_id: OrderId,
    pub version: i64,
    pub fact: Fact,
}

/// What it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    Charged {
        amount: Money,
    },
    Declined {
        reason: Reason,
    },
    Voided {
        /// False if there was nothing to void.
        changed: bool,
    },
    Refunded {
        amount: Money,
        /// False if the money had been given back before.
        changed: bool,
    },
    /// The undo is still being tried.
    RefundDelayed {
        reason: Reason,
    },
    /// The processor refuses to give the money back; a person looks at it, and it is tried again.
    RefundRefused {
        reason: Reason,
    },
}

/// Which command a fact answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// It decides the charge.
    Charge,
    /// It decides the undo.
    Undo,
    /// It tells how the undo is getting on.
    UndoMeanwhile,
}

impl Fact {
    pub const fn answers(&self) -> Answers {
        match self {
            Self::Charged { .. } | Self::Declined { .. } => Answers::Charge,
            Self::Voided { .. } | Self::Refunded { .. } => Answers::Undo,
            Self::RefundDelayed { .. } | Self::RefundRefused { .. } => Answers::UndoMeanwhile,
        }
    }
}
