//! A request before its meaning: authorised, its key and its parameters read.

use std::collections::BTreeMap;

use axum::{
    Form,
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::{HeaderMap, header, request::Parts},
};

use super::{answer::Answer, app::App, key::Claim};

/// As Stripe bounds it.
const KEY_BYTES_MAX: usize = 255;

/// A POST: who asks was checked, the form was read, nothing was decided.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) key: Option<String>,
    pub(crate) params: Params,
    fingerprint: String,
}

impl Call {
    pub(crate) fn claim(&self, app: &App) -> Claim {
        Claim {
            key: self.key.clone(),
            fingerprint: self.fingerprint.clone(),
            ttl_seconds: app.settings.key_ttl_seconds.into(),
        }
    }
}

impl FromRequest<App> for Call {
    type Rejection = Answer;

    async fn from_request(request: Request, app: &App) -> Result<Self, Answer> {
        authorise(request.headers())?;
        let key = idempotency_key(request.headers())?;
        let path = request.uri().path().to_owned();
        let has_form = request.headers().contains_key(header::CONTENT_TYPE);
        // A POST without parameters, such as a plain confirm, may come without a body.
        let mut pairs = if has_form {
            let form = Form::<Vec<(String, String)>>::from_request(request, app).await;
            form.map_err(|error| Answer::invalid("form_invalid", "", &error.body_text()))?
                .0
        } else {
            Vec::new()
        };
        pairs.sort();
        let fingerprint = format!("POST {path} {pairs:?}");
        Ok(Self {
            key,
            params: Params::new(pairs),
            fingerprint,
        })
    }
}

/// A GET: who asks was checked, the query was read.
#[derive(Debug)]
pub(crate) struct Asked(pub(crate) Params);

impl FromRequestParts<App> for Asked {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Answer> {
        authorise(&parts.headers)?;
        let query = Query::<Vec<(String, String)>>::from_request_parts(parts, app).await;
        let pairs = query.map_err(|error| Answer::invalid("query_invalid", "", &error.body_text()));
        Ok(Self(Params::new(pairs?.0)))
    }
}

fn authorise(headers: &HeaderMap) -> Result<(), Answer> {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    match given.and_then(|value| value.strip_prefix("Bearer ")) {
        Some(key) if !key.trim().is_empty() => Ok(()),
        _ => Err(Answer::unauthorized()),
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Answer> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(key) if (1..=KEY_BYTES_MAX).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => Err(Answer::invalid(
            "idempotency_key_invalid",
            "Idempotency-Key",
            "An idempotency key is 1 to 255 visible ASCII characters.",
        )),
    }
}

/// The parameters of a request; each is taken once, and what is left over is refused.
#[derive(Debug, Default)]
pub(crate) struct Params(BTreeMap<String, String>);

impl Params {
    fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs.into_iter().collect())
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    pub(crate) fn require(&mut self, name: &str) -> Result<String, Answer> {
        let missing = || {
            let message = format!("Missing required param: {name}.");
            Answer::invalid("parameter_missing", name, &message)
        };
        self.take(name).ok_or_else(missing)
    }

    /// A positive amount in minor units.
    pub(crate) fn take_amount(&mut self) -> Result<Option<i64>, Answer> {
        let Some(text) = self.take("amount") else {
            return Ok(None);
        };
        match text.parse::<i64>() {
            Ok(amount) if amount > 0 => Ok(Some(amount)),
            _ => Err(Answer::invalid(
                "parameter_invalid_integer",
                "amount",
                "amount must be a whole number of minor units, 1 or more.",
            )),
        }
    }

    /// How many to list: 10 unless said, at most 100.
    pub(crate) fn take_limit(&mut self) -> Result<usize, Answer> {
        let Some(text) = self.take("limit") else {
            return Ok(10);
        };
        match text.parse::<usize>() {
            Ok(limit) if (1..=100).contains(&limit) => Ok(limit),
            _ => Err(Answer::invalid(
                "parameter_invalid_integer",
                "limit",
                "limit must be 1 to 100.",
            )),
        }
    }

    /// `metadata[name]=value` pairs.
    pub(crate) fn take_metadata(&mut self) -> BTreeMap<String, String> {
        let mut metadata = BTreeMap::new();
        self.0.retain(|name, value| {
            let inner = name
                .strip_prefix("metadata[")
                .and_then(|rest| rest.strip_suffix(']'));
            if let Some(inner) = inner {
                metadata.insert(inner.to_owned(), std::mem::take(value));
            }
            inner.is_none()
        });
        metadata
    }

    /// Refuses what nobody took: a misspelt parameter must not be lost in silence.
    pub(crate) fn finish(self) -> Result<(), Answer> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => {
                let message = format!("Received unknown parameter: {name}");
                Err(Answer::invalid("parameter_unknown", name, &message))
            }
        }
    }
}
