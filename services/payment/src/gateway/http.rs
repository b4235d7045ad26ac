//! The port over Stripe's HTTP API: form-encoded POST, JSON answers, `Idempotency-Key`.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, de::DeserializeOwned};
use tercet_telemetry::propagation;

use super::{Failure, Gateway, Intent, IntentId, IntentState, NewIntent, NewRefund, Silence, wire};
use crate::domain::{Listed, PaymentId, RefundState};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Stripe's own bound on a page.
const PAGE_MAX: &str = "100";
/// Of refunds: we make one that succeeds; an operator by hand makes a few.
const PAGES_MAX: usize = 10;

/// The processor behind a URL.
#[derive(Debug, Clone)]
pub struct HttpGateway {
    client: Client,
    base: Url,
    key: SecretString,
}

/// The settings do not make a client.
#[derive(Debug, thiserror::Error)]
pub enum InvalidGateway {
    #[error("PAYMENT_GATEWAY_URL must be an http:// or https:// URL")]
    Url,
    #[error("the HTTP client cannot be built")]
    Client(#[from] reqwest::Error),
}

impl HttpGateway {
    /// `timeout` bounds each call from its start to the end of its answer.
    pub fn new(base: &str, key: SecretString, timeout: Duration) -> Result<Self, InvalidGateway> {
        let base = Url::parse(base).map_err(|_| InvalidGateway::Url)?;
        if base.cannot_be_a_base() {
            return Err(InvalidGateway::Url);
        }
        let client = Client::builder()
            .timeout(timeout)
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .build()?;
        Ok(Self { client, base, key })
    }

    fn post(&self, path: &[&str]) -> Result<RequestBuilder, Failure> {
        Ok(self.client.post(self.url(path)?))
    }

    fn get(&self, path: &[&str]) -> Result<RequestBuilder, Failure> {
        Ok(self.client.get(self.url(path)?))
    }

    /// Ids go in as path segments: whatever they hold, they stay one.
    fn url(&self, path: &[&str]) -> Result<Url, Failure> {
        let mut url = self.base.clone();
        match url.path_segments_mut() {
            Ok(mut segments) => {
                segments.pop_if_empty().push("v1").extend(path);
            }
            Err(()) => return Err(not_sent("the gateway's URL has no path")),
        }
        Ok(url)
    }

    async fn send(&self, request: RequestBuilder) -> Result<(StatusCode, Vec<u8>), Failure> {
        let mut headers = reqwest::header::HeaderMap::new();
        propagation::inject_http(&mut headers);
        let request = request
            .bearer_auth(self.key.expose_secret())
            .headers(headers);
        let response = request.send().await.map_err(|error| silence(&error))?;
        let status = response.status();
        let body = response.bytes().await.map_err(|error| silence(&error))?;
        Ok((status, body.to_vec()))
    }

    /// An intent, also where it comes inside of an error.
    async fn intent(&self, request: RequestBuilder) -> Result<Intent, Failure> {
        let (status, body) = self.send(request).await?;
        if status.is_success() {
            return read::<wire::Intent>(&body).map(Intent::from);
        }
        let error = wire::error(&body);
        match error.as_ref().and_then(wire::Error::settled_intent) {
            Some(intent) => Ok(intent),
            None => Err(wire::failure(status, error)),
        }
    }
}

impl Gateway for HttpGateway {
    async fn create_intent(&self, intent: &NewIntent) -> Result<Intent, Failure> {
        let payment_id = intent.payment_id.to_string();
        let request = self
            .post(&["payment_intents"])?
            .header("idempotency-key", format!("create:{payment_id}"))
            .form(&[
                ("amount", intent.amount.minor().to_string().as_str()),
                ("currency", &wire::currency(intent.amount)),
                ("payment_method", intent.payment_method.as_str()),
                ("payment_method_types[]", "card"),
                ("metadata[payment_id]", &payment_id),
            ]);
        self.intent(request).await
    }

    async fn confirm_intent(
        &self,
        intent: &IntentId,
        payment_id: PaymentId,
    ) -> Result<Intent, Failure> {
        let request = self
            .post(&["payment_intents", &intent.0, "confirm"])?
            .header("idempotency-key", format!("charge:{payment_id}"));
        self.intent(request).await
    }

    async fn cancel_intent(&self, intent: &IntentId) -> Result<Intent, Failure> {
        // Without a key: a cancel is the same however often it is asked for, and a 500 that is kept
        // under a key would stand in the way of every later one.
        let request = self.post(&["payment_intents", &intent.0, "cancel"])?;
        self.intent(request).await
    }

    async fn retrieve_intent(&self, intent: &IntentId) -> Result<Intent, Failure> {
        let request = self.get(&["payment_intents", &intent.0])?;
        self.intent(request).await
    }

    async fn find_intents(&self, payment_id: PaymentId) -> Result<Vec<Intent>, Failure> {
        let query = format!("metadata['payment_id']:'{payment_id}'");
        let request = self
            .get(&["payment_intents", "search"])?
            .query(&[("query", query.as_str()), ("limit", PAGE_MAX)]);
        let page: Page<wire::Intent> = self.fetch(request).await?;
        Ok(page.data.into_iter().map(Intent::from).collect())
    }

    async fn create_refund(&self, refund: &NewRefund) -> Result<RefundState, Failure> {
        let request = self
            .post(&["refunds"])?
            .header("idempotency-key", refund.idempotency_key.as_str())
            .form(&[
                ("payment_intent", refund.intent.0.as_str()),
                ("amount", &refund.amount_minor.to_string()),
                ("metadata[refund_id]", &refund.refund_id.to_string()),
                ("metadata[payment_id]", &refund.payment_id.to_string()),
            ]);
        let refund: wire::Refund = self.fetch(request).await?;
        refund.state().ok_or_else(|| unreadable("a refund"))
    }

    async fn list_refunds(&self, intent: &IntentId) -> Result<Vec<Listed>, Failure> {
        let mut refunds = Vec::new();
        let mut after: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let mut query = vec![("payment_intent", intent.0.clone())];
            query.push(("limit", PAGE_MAX.to_owned()));
            query.extend(after.map(|id| ("starting_after", id)));
            let request = self.get(&["refunds"])?.query(&query);
            let page: Page<wire::Refund> = self.fetch(request).await?;
            after = page.data.last().map(|refund| refund.id.clone());
            refunds.extend(page.data.iter().filter_map(wire::Refund::listed));
            if !page.has_more {
                return Ok(refunds);
            }
        }
        // An incomplete list must not be taken for one that shows none.
        Err(unreadable("the end of the list of refunds"))
    }
}

impl HttpGateway {
    async fn fetch<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        let (status, body) = self.send(request).await?;
        if status.is_success() {
            read(&body)
        } else {
            Err(wire::failure(status, wire::error(&body)))
        }
    }
}

#[derive(Deserialize)]
struct Page<T> {
    data: Vec<T>,
    #[serde(default)]
    has_more: bool,
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|_| unreadable("the answer"))
}

fn unreadable(what: &str) -> Failure {
    Failure::Unknown {
        silence: Silence::Answered,
        detail: format!("cannot read {what}"),
    }
}

fn not_sent(detail: &str) -> Failure {
    Failure::Unknown {
        silence: Silence::NotSent,
        detail: detail.to_owned(),
    }
}

/// The error's text would hold the URL; what happened is enough.
fn silence(error: &reqwest::Error) -> Failure {
    let (silence, detail) = if error.is_connect() {
        (Silence::NotSent, "cannot connect")
    } else if error.is_timeout() {
        (Silence::TimedOut, "no answer in time")
    } else {
        (Silence::TimedOut, "the connection broke")
    };
    Failure::Unknown {
        silence,
        detail: detail.to_owned(),
    }
}

impl From<wire::Intent> for Intent {
    fn from(intent: wire::Intent) -> Self {
        let state = intent.state();
        Self {
            id: IntentId(intent.id),
            state,
        }
    }
}

impl IntentState {
    /// It can be concluded from.
    pub const fn is_settled(&self) -> bool {
        !matches!(self, Self::Open)
    }
}
