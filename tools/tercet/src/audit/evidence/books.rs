//! The card processor's books: what was really taken and really given back.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Context as _;
use serde::Deserialize;
use uuid::Uuid;

const TIMEOUT: Duration = Duration::from_secs(30);

/// The processor's books, by our payment ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Books {
    /// What happened to each payment.
    pub payments: BTreeMap<Uuid, Account>,
    /// Charges and refunds that name no payment of ours, by the processor's id.
    pub strays: Vec<String>,
}

/// What the processor did for one payment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// The processor's ids of the intents, and where each stands.
    pub intents: BTreeMap<String, String>,
    /// One for each call that took money.
    pub charges: Vec<Charge>,
    /// Refunds, failed ones included.
    pub refunds: Vec<Refund>,
}

/// Money that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Charge {
    /// The processor's id.
    pub id: String,
    /// In minor units.
    pub amount: i64,
    /// ISO-4217, in lower case.
    pub currency: String,
    /// Under which key it was taken.
    pub idempotency_key: Option<String>,
}

/// Money that was given back, or should be.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Refund {
    /// The processor's id.
    pub id: String,
    /// In minor units.
    pub amount: i64,
    /// `succeeded`, `pending` or `failed`.
    pub status: String,
    /// Under which key it was asked for.
    pub idempotency_key: Option<String>,
}

impl Account {
    /// What was taken.
    pub fn captured(&self) -> i64 {
        self.charges.iter().map(|charge| charge.amount).sum()
    }

    /// What was given back.
    pub fn refunded(&self) -> i64 {
        self.succeeded_refunds().map(|refund| refund.amount).sum()
    }

    /// The refunds that moved money.
    pub fn succeeded_refunds(&self) -> impl Iterator<Item = &Refund> {
        self.refunds
            .iter()
            .filter(|refund| refund.status == "succeeded")
    }
}

impl Books {
    /// Asks the simulator for its books.
    pub async fn fetch(gateway_url: &str) -> anyhow::Result<Self> {
        let url = format!("{}/sim/books", gateway_url.trim_end_matches('/'));
        let client = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        let answer = client
            .get(&url)
            .send()
            .await
            .and_then(reqwest::Response::error_for_status);
        let answer = answer.with_context(|| format!("the processor's books at {url}"))?;
        let pages: Pages = answer
            .json()
            .await
            .with_context(|| format!("the processor's books at {url}"))?;
        Ok(pages.into())
    }

    /// What happened to a payment; empty if the processor never heard of it.
    pub fn of(&self, payment_id: Uuid) -> &Account {
        const NOTHING: &Account = &Account {
            intents: BTreeMap::new(),
            charges: Vec::new(),
            refunds: Vec::new(),
        };
        self.payments.get(&payment_id).unwrap_or(NOTHING)
    }
}

/// The books as the simulator renders them.
#[derive(Debug, Deserialize)]
struct Pages {
    intents: Vec<IntentLine>,
    charges: Vec<ChargeLine>,
    refunds: Vec<RefundLine>,
}

#[derive(Debug, Deserialize)]
struct IntentLine {
    id: String,
    payment_id: Option<Uuid>,
    status: String,
}

#[derive(Debug, Deserialize)]
struct ChargeLine {
    payment_id: Option<Uuid>,
    #[serde(flatten)]
    charge: Charge,
}

#[derive(Debug, Deserialize)]
struct RefundLine {
    intent: String,
    #[serde(flatten)]
    refund: Refund,
}

impl From<Pages> for Books {
    fn from(pages: Pages) -> Self {
        let mut books = Self::default();
        let mut owners = BTreeMap::new();
        for IntentLine {
            id,
            payment_id,
            status,
        } in pages.intents
        {
            // An intent without a payment moved no money yet; if it did, its charge is the stray.
            if let Some(payment) = payment_id {
                owners.insert(id.clone(), payment);
                books
                    .payments
                    .entry(payment)
                    .or_default()
                    .intents
                    .insert(id, status);
            }
        }
        for ChargeLine { payment_id, charge } in pages.charges {
            match payment_id {
                Some(payment) => books
                    .payments
                    .entry(payment)
                    .or_default()
                    .charges
                    .push(charge),
                None => books.strays.push(charge.id),
            }
        }
        for RefundLine { intent, refund } in pages.refunds {
            match owners.get(&intent) {
                Some(payment) => books
                    .payments
                    .entry(*payment)
                    .or_default()
                    .refunds
                    .push(refund),
                None => books.strays.push(refund.id),
            }
        }
        books
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn charges_and_refunds_find_their_payment() {
        let payment = Uuid::from_u128(7);
        let pages: Pages = serde_json::from_value(json!({
            "captures": 1, "captured": { "eur": 500 },
            "intents": [{ "id": "pi_1", "payment_id": payment, "status": "succeeded" }],
            "charges": [{ "id": "ch_1", "intent": "pi_1", "payment_id": payment, "amount": 500,
                          "currency": "eur", "idempotency_key": "charge:7", "created": 1 }],
            "refunds": [
                { "id": "re_1", "intent": "pi_1", "amount": 500, "status": "failed",
                  "idempotency_key": "7" },
                { "id": "re_2", "intent": "pi_1", "amount": 500, "status": "succeeded",
                  "idempotency_key": "7:r1" },
                { "id": "re_3", "intent": "pi_9", "amount": 1, "status": "succeeded",
                  "idempotency_key": null },
            ],
        }))
        .unwrap();
        let books = Books::from(pages);
        assert_eq!(books.of(payment).captured(), 500);
        assert_eq!(books.of(payment).refunded(), 500);
        assert_eq!(books.strays, ["re_3"]);
        assert_eq!(books.of(Uuid::from_u128(8)), &Account::default());
    }
}
