//! Refunds: create, retrieve, list by payment intent.

use axum::extract::{Path, State};
use serde_json::Value;
use uuid::Uuid;

use super::{
    answer::Answer,
    app::{self, App},
    call::{Asked, Call, Params},
    key::Claim,
};
use crate::{
    cards::{self, OnRefund},
    model::{Intent, Refund, RefundStatus},
    store::Books,
};

/// What a client asked to give back.
struct Wanted {
    intent: String,
    amount: Option<i64>,
    metadata: std::collections::BTreeMap<String, String>,
    pending_ms: i64,
}

pub(crate) async fn create(State(app): State<App>, mut call: Call) -> Answer {
    let params = std::mem::take(&mut call.params);
    let wanted = match parse_create(params, &app) {
        Ok(wanted) => wanted,
        Err(refusal) => return refusal,
    };
    app.run(call, |app, call, flight| async move {
        let claim = call.claim(&app);
        let written = app.store.write(move |books| refund(books, &claim, &wanted));
        match written.await {
            Ok((answer, true)) => answer,
            Ok((_, false)) => {
                // Done and stored, but nobody will hear of it; a repeat gets the stored answer.
                drop(flight);
                app.hang().await
            }
            Err(error) => error.into(),
        }
    })
    .await
}

fn parse_create(mut params: Params, app: &App) -> Result<Wanted, Answer> {
    let intent = params.require("payment_intent")?;
    let amount = params.take_amount()?;
    let metadata = params.take_metadata();
    params.take("reason");
    params.finish()?;
    let pending_ms = i64::try_from(app.settings.pending().as_millis()).unwrap_or(i64::MAX);
    Ok(Wanted {
        intent,
        amount,
        metadata,
        pending_ms,
    })
}

/// Gives money back in one transaction with its key's answer; `false` if that is never sent.
fn refund(
    books: &mut Books<'_>,
    claim: &Claim,
    wanted: &Wanted,
) -> Result<(Answer, bool), redb::Error> {
    let now = app::now_seconds();
    if let Some(answer) = claim.answered(books, now)? {
        return Ok((answer, true));
    }
    let Some(mut intent) = books.intent(&wanted.intent)? else {
        return Ok((Answer::not_found("payment_intent", &wanted.intent), true));
    };
    intent.refund_calls = intent.refund_calls.saturating_add(1);
    books.put_intent(&intent)?;

    let given: i64 = books
        .refunds_of(&intent.id)?
        .iter()
        .filter(|r| r.counts())
        .map(|r| r.amount)
        .sum();
    let left = intent.captured().saturating_sub(given);
    let amount = wanted.amount.unwrap_or(left);
    let behaviour = behaviour_of(&intent);
    if let Some(refusal) = refuse(&intent, behaviour, amount, left) {
        return Ok((claim.keep(books, refusal, now)?, true));
    }

    let is_first = intent.refund_calls == 1;
    let status = match behaviour {
        OnRefund::FailFirst if is_first => RefundStatus::Failed,
        OnRefund::Pend => RefundStatus::Pending,
        _ => RefundStatus::Succeeded,
    };
    let refund = Refund {
        id: format!("re_{}", Uuid::now_v7().simple()),
        intent: intent.id.clone(),
        amount,
        currency: intent.currency.clone(),
        status,
        metadata: wanted.metadata.clone(),
        idempotency_key: claim.key.clone(),
        created: now,
        settles_at_ms: (status == RefundStatus::Pending)
            .then(|| app::now_ms().saturating_add(wanted.pending_ms)),
    };
    books.put_refund(&refund)?;
    let answer = claim.keep(books, Answer::ok(refund.render()), now)?;
    Ok((answer, !(behaviour == OnRefund::ActThenHang && is_first)))
}

/// Refunds never exceed what was captured, and one card refuses all of them.
fn refuse(intent: &Intent, behaviour: OnRefund, amount: i64, left: i64) -> Option<Answer> {
    if intent.captured() == 0 {
        let message = "This PaymentIntent does not have a successful charge to refund.";
        return Some(Answer::invalid(
            "payment_intent_unexpected_state",
            "payment_intent",
            message,
        ));
    }
    if behaviour == OnRefund::Refuse {
        let message = "The charge is disputed and cannot be refunded.";
        return Some(Answer::invalid(
            "charge_disputed",
            "payment_intent",
            message,
        ));
    }
    if left == 0 {
        let message = "The charge has already been refunded.";
        return Some(Answer::invalid(
            "charge_already_refunded",
            "payment_intent",
            message,
        ));
    }
    if amount > left {
        let message = format!("Refund amount ({amount}) is greater than what is left ({left}).");
        return Some(Answer::invalid("amount_too_large", "amount", &message));
    }
    None
}

fn behaviour_of(intent: &Intent) -> OnRefund {
    let card = intent.card.as_deref().and_then(cards::find);
    card.map_or(OnRefund::Succeed, |card| card.on_refund)
}

pub(crate) async fn retrieve(State(app): State<App>, Path(id): Path<String>, _: Asked) -> Answer {
    match app.store.read().and_then(|books| Ok(books.refund(&id)?)) {
        Ok(Some(refund)) => Answer::ok(refund.at(app::now_ms()).render()),
        Ok(None) => Answer::not_found("refund", &id),
        Err(error) => error.into(),
    }
}

pub(crate) async fn list(State(app): State<App>, Asked(mut params): Asked) -> Answer {
    let limit = match params.take_limit() {
        Ok(limit) => limit,
        Err(refusal) => return refusal,
    };
    let (intent, after) = (params.take("payment_intent"), params.take("starting_after"));
    if let Err(refusal) = params.finish() {
        return refusal;
    }
    let found = app.store.read().and_then(|books| match &intent {
        Some(intent) => {
            let mut refunds = books.refunds_of(intent)?;
            refunds.retain(|refund| after.as_ref().is_none_or(|after| refund.id < *after));
            Ok(refunds)
        }
        None => Ok(books.refunds(after.as_deref(), limit.saturating_add(1))?),
    });
    match found {
        Ok(refunds) => {
            let has_more = refunds.len() > limit;
            let now_ms = app::now_ms();
            let page: Vec<Value> = refunds
                .into_iter()
                .take(limit)
                .map(|r| r.at(now_ms).render())
                .collect();
            Answer::list("/v1/refunds", &page, has_more)
        }
        Err(error) => error.into(),
    }
}
