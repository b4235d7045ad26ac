//! A payment intent: at most one capture, ever.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IntentStatus {
    RequiresPaymentMethod,
    RequiresConfirmation,
    Succeeded,
    Canceled,
}

impl IntentStatus {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::RequiresPaymentMethod => "requires_payment_method",
            Self::RequiresConfirmation => "requires_confirmation",
            Self::Succeeded => "succeeded",
            Self::Canceled => "canceled",
        }
    }
}

/// Money that was taken, and under which key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) id: String,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) created: i64,
}

/// Why a card said no.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Decline {
    pub(crate) decline_code: String,
    pub(crate) message: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) id: String,
    pub(crate) amount: i64,
    /// Lower case, as Stripe writes it.
    pub(crate) currency: String,
    pub(crate) status: IntentStatus,
    pub(crate) payment_method: Option<String>,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) charge: Option<Charge>,
    pub(crate) last_decline: Option<Decline>,
    pub(crate) created: i64,
    pub(crate) canceled_at: Option<i64>,
    /// The card that misbehaves; outlives `payment_method`, which a decline clears.
    pub(crate) card: Option<String>,
    /// Confirms that got as far as the card: "the first one" of a card must survive a restart.
    pub(crate) confirm_calls: u32,
    pub(crate) refund_calls: u32,
    /// Set by `POST /sim/release`: a held confirm may act.
    pub(crate) released: bool,
}

/// The intent is not in a state that allows what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnexpectedState(pub(crate) IntentStatus);

impl Intent {
    /// Whether a confirm may reach the card.
    pub(crate) fn confirmable(&self) -> Result<(), UnexpectedState> {
        match self.status {
            IntentStatus::RequiresConfirmation => Ok(()),
            other => Err(UnexpectedState(other)),
        }
    }

    /// Takes the money. The only place that does, and it refuses a second time: the status is
    /// checked in the same write transaction that saves the result.
    pub(crate) fn capture(&mut self, charge: Charge) -> Result<(), UnexpectedState> {
        self.confirmable()?;
        self.status = IntentStatus::Succeeded;
        self.charge = Some(charge);
        Ok(())
    }

    /// The card said no: another card could be tried on the same intent.
    pub(crate) fn decline(&mut self, decline: Decline) -> Result<(), UnexpectedState> {
        self.confirmable()?;
        self.status = IntentStatus::RequiresPaymentMethod;
        self.payment_method = None;
        self.last_decline = Some(decline);
        Ok(())
    }

    /// Nothing can be taken any more. A captured or already cancelled intent refuses.
    pub(crate) fn cancel(&mut self, now: i64) -> Result<(), UnexpectedState> {
        match self.status {
            IntentStatus::RequiresPaymentMethod | IntentStatus::RequiresConfirmation => {
                self.status = IntentStatus::Canceled;
                self.canceled_at = Some(now);
                Ok(())
            }
            other => Err(UnexpectedState(other)),
        }
    }

    pub(crate) fn captured(&self) -> i64 {
        self.charge.as_ref().map_or(0, |_| self.amount)
    }

    /// The object as Stripe renders it.
    pub(crate) fn render(&self) -> Value {
        json!({
            "id": self.id,
            "object": "payment_intent",
            "amount": self.amount,
            "amount_received": self.captured(),
            "canceled_at": self.canceled_at,
            "capture_method": "automatic",
            "created": self.created,
            "currency": self.currency,
            "last_payment_error": self.last_decline.as_ref().map(|decline| json!({
                "type": "card_error",
                "code": "card_declined",
                "decline_code": decline.decline_code,
                "message": decline.message,
            })),
            "latest_charge": self.charge.as_ref().map(|charge| &charge.id),
            "livemode": false,
            "metadata": self.metadata,
            "payment_method": self.payment_method,
            "payment_method_types": ["card"],
            "status": self.status,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent() -> Intent {
        Intent {
            id: "pi_1".into(),
            amount: 100,
            currency: "eur".into(),
            status: IntentStatus::RequiresConfirmation,
            payment_method: Some("pm_card_visa".into()),
            metadata: BTreeMap::new(),
            charge: None,
            last_decline: None,
            created: 0,
            canceled_at: None,
            card: None,
            confirm_calls: 0,
            refund_calls: 0,
            released: false,
        }
    }

    fn charge(id: &str) -> Charge {
        Charge {
            id: id.into(),
            idempotency_key: None,
            created: 0,
        }
    }

    #[test]
    fn an_intent_is_captured_once() {
        let mut intent = intent();
        intent.capture(charge("ch_1")).unwrap();
        assert_eq!(
            intent.capture(charge("ch_2")),
            Err(UnexpectedState(IntentStatus::Succeeded))
        );
        assert_eq!(intent.charge.unwrap().id, "ch_1");
    }

    #[test]
    fn a_cancelled_intent_cannot_be_captured_and_a_captured_one_not_cancelled() {
        let mut cancelled = intent();
        cancelled.cancel(1).unwrap();
        assert!(cancelled.capture(charge("ch_1")).is_err());
        let mut captured = intent();
        captured.capture(charge("ch_1")).unwrap();
        assert_eq!(
            captured.cancel(1),
            Err(UnexpectedState(IntentStatus::Succeeded))
        );
    }
}
