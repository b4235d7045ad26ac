//! Payment intents: create, retrieve, list, search, cancel.

use axum::extract::{Path, State};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    answer::Answer,
    app::{self, App},
    call::{Asked, Call, Params},
};
use crate::{
    cards,
    model::{Intent, IntentStatus},
};

pub(crate) async fn create(State(app): State<App>, mut call: Call) -> Answer {
    let params = std::mem::take(&mut call.params);
    let intent = match parse_create(params) {
        Ok(intent) => intent,
        Err(refusal) => return refusal,
    };
    app.run(call, |app, call, _flight| async move {
        let claim = call.claim(&app);
        let written = app.store.write(move |books| {
            let now = app::now_seconds();
            if let Some(answer) = claim.answered(books, now)? {
                return Ok(answer);
            }
            books.put_intent(&intent)?;
            claim.keep(books, Answer::ok(intent.render()), now)
        });
        written.await.unwrap_or_else(Answer::from)
    })
    .await
}

fn parse_create(mut params: Params) -> Result<Intent, Answer> {
    let amount = params.take_amount()?;
    let Some(amount) = amount else {
        return Err(Answer::invalid(
            "parameter_missing",
            "amount",
            "Missing required param: amount.",
        ));
    };
    let currency = params.require("currency")?.to_ascii_lowercase();
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_lowercase()) {
        let message = format!("Invalid currency: {currency}.");
        return Err(Answer::invalid("parameter_invalid", "currency", &message));
    }
    let payment_method = params.take("payment_method");
    if let Some(token) = &payment_method
        && cards::find(token).is_none()
    {
        return Err(no_such_card(token));
    }
    let metadata = params.take_metadata();
    refuse_other_flows(&mut params)?;
    params.finish()?;
    Ok(Intent {
        id: format!("pi_{}", Uuid::now_v7().simple()),
        amount,
        currency,
        status: if payment_method.is_some() {
            IntentStatus::RequiresConfirmation
        } else {
            IntentStatus::RequiresPaymentMethod
        },
        card: payment_method.clone(),
        payment_method,
        metadata,
        charge: None,
        last_decline: None,
        created: app::now_seconds(),
        canceled_at: None,
        confirm_calls: 0,
        refund_calls: 0,
        released: false,
    })
}

/// Known parameters of Stripe that this subset supports with one value only.
fn refuse_other_flows(params: &mut Params) -> Result<(), Answer> {
    for (name, only) in [
        ("confirm", "false"),
        ("capture_method", "automatic"),
        ("payment_method_types[]", "card"),
    ] {
        if params.take(name).is_some_and(|value| value != only) {
            let message = format!("This simulator knows {name}={only} only.");
            return Err(Answer::invalid("parameter_invalid", name, &message));
        }
    }
    params.take("description");
    Ok(())
}

pub(super) fn no_such_card(token: &str) -> Answer {
    let message = format!("No such PaymentMethod: '{token}'");
    Answer::invalid("resource_missing", "payment_method", &message)
}

pub(crate) async fn retrieve(State(app): State<App>, Path(id): Path<String>, _: Asked) -> Answer {
    match app.store.read().and_then(|books| Ok(books.intent(&id)?)) {
        Ok(Some(intent)) => Answer::ok(intent.render()),
        Ok(None) => Answer::not_found("payment_intent", &id),
        Err(error) => error.into(),
    }
}

pub(crate) async fn list(State(app): State<App>, Asked(mut params): Asked) -> Answer {
    let limit = match params.take_limit() {
        Ok(limit) => limit,
        Err(refusal) => return refusal,
    };
    let after = params.take("starting_after");
    if let Err(refusal) = params.finish() {
        return refusal;
    }
    let read = app.store.read();
    match read.and_then(|books| Ok(books.intents(after.as_deref(), limit.saturating_add(1))?)) {
        Ok(intents) => {
            let page: Vec<Value> = intents.iter().take(limit).map(Intent::render).collect();
            Answer::list("/v1/payment_intents", &page, intents.len() > limit)
        }
        Err(error) => error.into(),
    }
}

/// Stripe's search language in its one form that we need: `metadata['payment_id']:'…'`.
/// Unlike Stripe's, this index is never behind.
pub(crate) async fn search(State(app): State<App>, Asked(mut params): Asked) -> Answer {
    let query = match params.require("query") {
        Ok(query) => query,
        Err(refusal) => return refusal,
    };
    if let Err(refusal) = params.take_limit().and_then(|_| params.finish()) {
        return refusal;
    }
    let Some(payment) = searched_payment(&query) else {
        let message = "This simulator searches by metadata['payment_id']:'…' only.";
        return Answer::invalid("parameter_invalid", "query", message);
    };
    match app
        .store
        .read()
        .and_then(|books| Ok(books.intents_of_payment(payment)?))
    {
        Ok(intents) => Answer::ok(json!({
            "object": "search_result",
            "url": "/v1/payment_intents/search",
            "has_more": false,
            "next_page": null,
            "data": intents.iter().map(Intent::render).collect::<Vec<_>>(),
        })),
        Err(error) => error.into(),
    }
}

fn searched_payment(query: &str) -> Option<&str> {
    ['\'', '"'].into_iter().find_map(|quote| {
        let rest = query
            .trim()
            .strip_prefix(&*format!("metadata[{quote}payment_id{quote}]:"))?;
        rest.strip_prefix(quote)?
            .strip_suffix(quote)
            .filter(|id| !id.contains(quote))
    })
}

pub(crate) async fn cancel(
    State(app): State<App>,
    Path(id): Path<String>,
    mut call: Call,
) -> Answer {
    call.params.take("cancellation_reason");
    if let Err(refusal) = std::mem::take(&mut call.params).finish() {
        return refusal;
    }
    app.run(call, |app, call, _flight| async move {
        let claim = call.claim(&app);
        let written = app.store.write(move |books| {
            let now = app::now_seconds();
            if let Some(answer) = claim.answered(books, now)? {
                return Ok(answer);
            }
            let Some(mut intent) = books.intent(&id)? else {
                return Ok(Answer::not_found("payment_intent", &id));
            };
            let answer = match intent.cancel(now) {
                Ok(()) => Answer::ok(intent.render()),
                Err(_) => Answer::unexpected_state("cancel", &intent),
            };
            books.put_intent(&intent)?;
            claim.keep(books, answer, now)
        });
        let answer = written.await.unwrap_or_else(Answer::from);
        app.changes.send_replace(());
        answer
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_reads_both_kinds_of_quotes_and_nothing_else() {
        assert_eq!(
            searched_payment("metadata['payment_id']:'a-1'"),
            Some("a-1")
        );
        assert_eq!(
            searched_payment(r#"metadata["payment_id"]:"a-1""#),
            Some("a-1")
        );
        assert_eq!(
            searched_payment("metadata['payment_id']:'a' OR status:'x'"),
            None
        );
        assert_eq!(searched_payment("status:'succeeded'"), None);
    }
}
