//! A refund of an intent's one charge.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefundStatus {
    Pending,
    Succeeded,
    Failed,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refund {
    pub(crate) id: String,
    pub(crate) intent: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) status: RefundStatus,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) created: i64,
    /// When a pending refund arrives, in milliseconds since the epoch.
    pub(crate) settles_at_ms: Option<i64>,
}

impl Refund {
    /// A pending refund becomes `succeeded` by the passing of time alone, so that no timer has to
    /// survive a restart: every reader looks at it through this.
    pub(crate) fn at(mut self, now_ms: i64) -> Self {
        if self.status == RefundStatus::Pending
            && self.settles_at_ms.is_some_and(|settles| settles <= now_ms)
        {
            self.status = RefundStatus::Succeeded;
        }
        self
    }

    /// Whether this refund uses up part of the captured money.
    pub(crate) fn counts(&self) -> bool {
        self.status != RefundStatus::Failed
    }

    /// The object as Stripe renders it.
    pub(crate) fn render(&self) -> Value {
        json!({
            "id": self.id,
            "object": "refund",
            "amount": self.amount,
            "created": self.created,
            "currency": self.currency,
            "failure_reason": (self.status == RefundStatus::Failed).then_some("declined"),
            "metadata": self.metadata,
            "payment_intent": self.intent,
            "status": self.status,
        })
    }
}
