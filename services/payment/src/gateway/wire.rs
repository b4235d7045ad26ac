//! Stripe's objects as far as we read them, and what they mean to a payment.

use reqwest::StatusCode;
use serde::Deserialize;

use super::{Failure, Intent as Known, IntentState, Silence};
use crate::domain::{Listed, Money, Reason, RefundId, RefundState};

#[derive(Deserialize)]
pub(super) struct Intent {
    pub(super) id: String,
    status: String,
    last_payment_error: Option<CardError>,
}

#[derive(Deserialize)]
struct CardError {
    code: Option<String>,
    decline_code: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Refund {
    pub(super) id: String,
    status: Option<String>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
struct Metadata {
    refund_id: Option<String>,
}

#[derive(Deserialize)]
struct Envelope {
    error: Error,
}

#[derive(Deserialize)]
pub(super) struct Error {
    #[serde(rename = "type")]
    kind: String,
    code: Option<String>,
    decline_code: Option<String>,
    payment_intent: Option<Intent>,
}

/// Lower case, as Stripe writes them.
pub(super) fn currency(amount: Money) -> String {
    amount.currency().code().to_ascii_lowercase()
}

pub(super) fn error(body: &[u8]) -> Option<Error> {
    let envelope: Envelope = serde_json::from_slice(body).ok()?;
    Some(envelope.error)
}

impl Intent {
    pub(super) fn state(&self) -> IntentState {
        match (self.status.as_str(), &self.last_payment_error) {
            ("succeeded", _) => IntentState::Succeeded,
            ("canceled", _) => IntentState::Canceled,
            ("requires_payment_method", Some(error)) => {
                let code = error.code.as_deref();
                IntentState::Declined(declined(code, error.decline_code.as_deref()))
            }
            // processing, requires_action and whatever else there will be: not settled.
            _ => IntentState::Open,
        }
    }
}

impl Refund {
    pub(super) fn state(&self) -> Option<RefundState> {
        match self.status.as_deref()? {
            "succeeded" => Some(RefundState::Succeeded),
            "pending" | "requires_action" => Some(RefundState::Pending),
            "failed" | "canceled" => Some(RefundState::Failed),
            _ => None,
        }
    }

    /// One in a state that we do not know may be under way: it counts as pending.
    pub(super) fn listed(&self) -> Option<Listed> {
        let refund_id = RefundId::parse(self.metadata.refund_id.as_deref()?).ok()?;
        Some(Listed {
            refund_id: Some(refund_id),
            state: self.state().unwrap_or(RefundState::Pending),
        })
    }
}

impl Error {
    /// A decline, and "you cannot do this to an intent in its state", tell how far the intent is.
    pub(super) fn settled_intent(&self) -> Option<Known> {
        let intent = self.payment_intent.as_ref()?;
        let state = match self.kind.as_str() {
            "card_error" => {
                let code = self.code.as_deref();
                IntentState::Declined(declined(code, self.decline_code.as_deref()))
            }
            _ => intent.state(),
        };
        state.is_settled().then(|| Known {
            id: super::IntentId(intent.id.clone()),
            state,
        })
    }
}

/// What a customer may know of why the card said no. Issuers ask to keep the rest (lost, stolen,
/// suspected fraud) from whoever holds the card.
fn declined(code: Option<&str>, decline_code: Option<&str>) -> Reason {
    const TELLABLE: [&str; 5] = [
        "insufficient_funds",
        "expired_card",
        "incorrect_cvc",
        "incorrect_number",
        "card_not_supported",
    ];
    let finer = decline_code.filter(|code| TELLABLE.contains(code));
    let plain = code.filter(|code| TELLABLE.contains(code));
    Reason::from_code(finer.or(plain).unwrap_or("card_declined"))
}

/// Refusals are a closed list; everything else is silence, "not found" too.
pub(super) fn failure(status: StatusCode, error: Option<Error>) -> Failure {
    let (kind, code) = error
        .map(|error| (error.kind, error.code))
        .unwrap_or_default();
    let code = code.unwrap_or_default();
    let detail = format!("HTTP {} {kind} {code}", status.as_u16())
        .trim_end()
        .to_owned();
    let is_refusal = match status {
        StatusCode::BAD_REQUEST => kind == "invalid_request_error",
        StatusCode::PAYMENT_REQUIRED => kind == "card_error",
        _ => false,
    };
    if is_refusal {
        let reason = Reason::from_code(if code.is_empty() { &kind } else { &code });
        return Failure::Refused { reason, detail };
    }
    Failure::Unknown {
        silence: Silence::Answered,
        detail,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(status: u16, body: &serde_json::Value) -> Failure {
        let body = serde_json::to_vec(body).unwrap();
        failure(StatusCode::from_u16(status).unwrap(), error(&body))
    }

    #[test]
    fn only_a_closed_list_of_answers_is_a_refusal() {
        let invalid =
            json!({"error": {"type": "invalid_request_error", "code": "charge_disputed"}});
        let Failure::Refused { reason, .. } = of(400, &invalid) else {
            panic!("a 400 of that type is one")
        };
        assert_eq!(reason.as_str(), "CHARGE_DISPUTED");

        let in_use =
            json!({"error": {"type": "idempotency_error", "code": "idempotency_key_in_use"}});
        for (status, body) in [
            (400, &json!({"error": {"type": "idempotency_error"}})),
            (409, &in_use),
            (401, &invalid),
            (404, &invalid),
            (429, &invalid),
            (500, &invalid),
            (502, &json!("<html>")),
        ] {
            let silence = of(status, body);
            assert!(
                matches!(
                    silence,
                    Failure::Unknown {
                        silence: Silence::Answered,
                        ..
                    }
                ),
                "{status} {body}: {silence:?}"
            );
        }
    }

    #[test]
    fn an_error_that_brings_a_settled_intent_is_an_answer() {
        let settled = |kind: &str, status: &str| {
            let body = json!({"error": {
                "type": kind, "code": "card_declined", "decline_code": "stolen_card",
                "payment_intent": {"id": "pi_1", "status": status, "last_payment_error": null},
            }});
            error(&serde_json::to_vec(&body).unwrap())
                .unwrap()
                .settled_intent()
                .map(|intent| intent.state)
        };
        let unexpected = "invalid_request_error";
        assert_eq!(
            settled(unexpected, "succeeded"),
            Some(IntentState::Succeeded)
        );
        assert_eq!(settled(unexpected, "canceled"), Some(IntentState::Canceled));
        assert_eq!(settled(unexpected, "requires_confirmation"), None);
        let Some(IntentState::Declined(reason)) = settled("card_error", "requires_payment_method")
        else {
            panic!("a card error is a decline")
        };
        assert_eq!(
            reason.as_str(),
            "CARD_DECLINED",
            "what is stolen is not told"
        );
    }

    #[test]
    fn states_that_we_do_not_know_settle_nothing() {
        for status in ["processing", "requires_action", "requires_capture", "new"] {
            let intent = Intent {
                id: "pi_1".into(),
                status: status.into(),
                last_payment_error: None,
            };
            assert_eq!(intent.state(), IntentState::Open, "{status}");
        }
    }
}
