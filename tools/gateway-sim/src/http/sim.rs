//! The simulator's own paths: what an auditor and a test need, and a real processor lacks.

use std::collections::BTreeMap;

use axum::{
    extract::{Path, State},
    http::Uri,
};
use serde_json::{Value, json};

use super::{
    answer::Answer,
    app::{self, App},
};
use crate::{
    model::{Intent, Refund, RefundStatus},
    store::{Reader, StoreError},
};

pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

pub(crate) async fn unknown_path(uri: Uri) -> Answer {
    Answer::not_found("path", uri.path())
}

/// Lets a held confirm act. The release is kept: it holds for confirms that come later too.
pub(crate) async fn release(State(app): State<App>, Path(payment_id): Path<String>) -> Answer {
    let written = app.store.write(move |books| {
        let mut intents = books.intents_of_payment(&payment_id)?;
        for intent in &mut intents {
            intent.released = true;
            books.put_intent(intent)?;
        }
        Ok(match intents.len() {
            0 => Answer::not_found("payment", &payment_id),
            released => Answer::ok(json!({ "released": released })),
        })
    });
    let answer = written.await.unwrap_or_else(Answer::from);
    app.changes.send_replace(());
    answer
}

/// Everything that was ever taken or given back, in one consistent view.
pub(crate) async fn books(State(app): State<App>) -> Answer {
    let view = app.store.read().and_then(|books| render(&books));
    view.map_or_else(Answer::from, Answer::ok)
}

fn render(books: &Reader) -> Result<Value, StoreError> {
    let mut intents = books.intents(None, usize::MAX)?;
    let mut refunds = books.refunds(None, usize::MAX)?;
    // The order in which things happened is the one to read.
    intents.reverse();
    refunds.reverse();
    let now_ms = app::now_ms();
    let refunds: Vec<Refund> = refunds
        .into_iter()
        .map(|refund| refund.at(now_ms))
        .collect();
    let charges: Vec<Value> = intents.iter().filter_map(render_charge).collect();

    let mut captured = BTreeMap::<&str, i64>::new();
    for intent in &intents {
        let sum = captured.entry(&intent.currency).or_default();
        *sum = sum.saturating_add(intent.captured());
    }
    let mut refunded = BTreeMap::<&str, i64>::new();
    for refund in refunds
        .iter()
        .filter(|refund| refund.status == RefundStatus::Succeeded)
    {
        let sum = refunded.entry(&refund.currency).or_default();
        *sum = sum.saturating_add(refund.amount);
    }
    Ok(json!({
        "intents": intents.iter().map(render_intent).collect::<Vec<_>>(),
        // One for each confirm call that took money.
        "captures": charges.len(),
        "charges": charges,
        "refunds": refunds.iter().map(render_refund).collect::<Vec<_>>(),
        "captured": captured,
        "refunded": refunded,
    }))
}

fn render_intent(intent: &Intent) -> Value {
    json!({
        "id": intent.id,
        "payment_id": intent.metadata.get("payment_id"),
        "status": intent.status,
        "amount": intent.amount,
        "currency": intent.currency,
        "captured": intent.captured(),
        "payment_method": intent.card,
        "confirm_calls": intent.confirm_calls,
        "refund_calls": intent.refund_calls,
        "created": intent.created,
    })
}

fn render_charge(intent: &Intent) -> Option<Value> {
    let charge = intent.charge.as_ref()?;
    Some(json!({
        "id": charge.id,
        "intent": intent.id,
        "payment_id": intent.metadata.get("payment_id"),
        "amount": intent.amount,
        "currency": intent.currency,
        "idempotency_key": charge.idempotency_key,
        "created": charge.created,
    }))
}

fn render_refund(refund: &Refund) -> Value {
    json!({
        "id": refund.id,
        "intent": refund.intent,
        "amount": refund.amount,
        "currency": refund.currency,
        "status": refund.status,
        "refund_id": refund.metadata.get("refund_id"),
        "idempotency_key": refund.idempotency_key,
        "created": refund.created,
    })
}
