//! Answers in Stripe's shapes.

use axum::{
    Json,
    http::{HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use crate::{
    model::{Decline, Intent},
    store::{StoreError, Stored},
};

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
    replayed: bool,
}

impl Answer {
    pub(crate) fn ok(body: Value) -> Self {
        Self {
            status: StatusCode::OK,
            body,
            replayed: false,
        }
    }

    /// What a key stands for, said again.
    pub(crate) fn replayed(stored: Stored) -> Self {
        // Only valid codes are ever stored.
        let status = StatusCode::from_u16(stored.status).unwrap_or(StatusCode::OK);
        Self {
            status,
            body: stored.body,
            replayed: true,
        }
    }

    /// A page of a list, as Stripe wraps it.
    pub(crate) fn list(url: &str, data: &[Value], has_more: bool) -> Self {
        Self::ok(json!({"object": "list", "url": url, "has_more": has_more, "data": data}))
    }

    pub(crate) fn invalid(code: &str, param: &str, message: &str) -> Self {
        Self::error(
            StatusCode::BAD_REQUEST,
            &json!({
                "type": "invalid_request_error", "code": code, "param": param, "message": message,
            }),
        )
    }

    pub(crate) fn not_found(what: &str, id: &str) -> Self {
        Self::error(
            StatusCode::NOT_FOUND,
            &json!({
                "type": "invalid_request_error",
                "code": "resource_missing",
                "message": format!("No such {what}: '{id}'"),
            }),
        )
    }

    /// The intent's state does not allow this; the intent is told, so that the client learns it.
    pub(crate) fn unexpected_state(verb: &str, intent: &Intent) -> Self {
        let status = intent.status.as_str();
        Self::error(
            StatusCode::BAD_REQUEST,
            &json!({
                "type": "invalid_request_error",
                "code": "payment_intent_unexpected_state",
                "message": format!("You cannot {verb} this PaymentIntent because it has a status of {status}."),
                "payment_intent": intent.render(),
            }),
        )
    }

    pub(crate) fn declined(decline: &Decline, intent: &Intent) -> Self {
        Self::error(
            StatusCode::PAYMENT_REQUIRED,
            &json!({
                "type": "card_error",
                "code": "card_declined",
                "decline_code": decline.decline_code,
                "message": decline.message,
                "payment_intent": intent.render(),
            }),
        )
    }

    pub(crate) fn key_reused() -> Self {
        Self::error(
            StatusCode::BAD_REQUEST,
            &json!({
                "type": "idempotency_error",
                "message": "This idempotency key was first used with another request.",
            }),
        )
    }

    pub(crate) fn key_in_use() -> Self {
        Self::error(
            StatusCode::CONFLICT,
            &json!({
                "type": "idempotency_error",
                "code": "idempotency_key_in_use",
                "message": "Another request with this idempotency key is still running.",
            }),
        )
    }

    pub(crate) fn unauthorized() -> Self {
        Self::error(
            StatusCode::UNAUTHORIZED,
            &json!({
                "type": "invalid_request_error",
                "message": "You did not provide an API key: send Authorization: Bearer sk_test_…",
            }),
        )
    }

    /// A failure of the processor itself.
    pub(crate) fn failed(status: StatusCode, message: &str) -> Self {
        Self::error(status, &json!({"type": "api_error", "message": message}))
    }

    fn error(status: StatusCode, error: &Value) -> Self {
        Self {
            status,
            body: json!({ "error": error }),
            replayed: false,
        }
    }
}

impl From<StoreError> for Answer {
    fn from(error: StoreError) -> Self {
        tracing::error!(error = &error as &dyn std::error::Error, "the books failed");
        Self::failed(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The books cannot be read or written.",
        )
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if self.replayed {
            let headers = response.headers_mut();
            headers.insert("idempotent-replayed", HeaderValue::from_static("true"));
        }
        response
    }
}
