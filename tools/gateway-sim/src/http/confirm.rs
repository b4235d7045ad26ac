//! `POST /v1/payment_intents/{id}/confirm`: where the money is taken, and where the cards misbehave.
//!
//! A confirm has up to two write transactions. The first answers from the key, or counts the try
//! and lets the card choose what comes next; a well-behaved card acts in it at once. The second is
//! for cards that act after a wait, and decides everything anew: the intent may have been
//! cancelled meanwhile.

use std::time::Duration;

use axum::{
    extract::{Path, State},
    http::StatusCode,
};
use uuid::Uuid;

use super::{
    answer::Answer,
    app::{self, App},
    call::Call,
    key::{Claim, Flight},
};
use crate::{
    cards::{self, OnConfirm},
    model::{Charge, Decline, Intent},
    store::Books,
};

/// What a confirm does after its first transaction.
enum Next {
    Answer(Answer),
    /// Done and stored, but nobody will hear of it.
    HangAnswered,
    /// Not done; nobody will hear of it.
    HangUndone,
    ActAfter {
        wait: Duration,
        answer: bool,
    },
    ActWhenReleased,
}

pub(crate) async fn confirm(
    State(app): State<App>,
    Path(id): Path<String>,
    mut call: Call,
) -> Answer {
    // Where a browser would come back to: accepted, without meaning here.
    call.params.take("return_url");
    let payment_method = call.params.take("payment_method");
    let claim = call.claim(&app);
    match std::mem::take(&mut call.params).finish() {
        Ok(()) => {
            app.run(call, |app, _, flight| {
                run(app, id, payment_method, claim, flight)
            })
            .await
        }
        Err(refusal) => refusal,
    }
}

async fn run(
    app: App,
    id: String,
    payment_method: Option<String>,
    claim: Claim,
    flight: Flight,
) -> Answer {
    let (first, slow, late) = (claim.clone(), app.settings.slow(), app.settings.late());
    let begun = {
        let id = id.clone();
        app.store
            .write(move |books| begin(books, &first, &id, payment_method, slow, late))
            .await
    };
    match begun {
        Err(error) => error.into(),
        Ok(Next::Answer(answer)) => answer,
        Ok(Next::HangAnswered | Next::HangUndone) => {
            // The key is free again: a repeat gets the stored answer, or acts.
            drop(flight);
            app.hang().await
        }
        Ok(Next::ActAfter { wait, answer }) => {
            app.sleep(wait).await;
            let acted = act_now(&app, id, claim).await;
            drop(flight);
            if answer { acted } else { app.hang().await }
        }
        Ok(Next::ActWhenReleased) => {
            if released(&app, &id).await {
                act_now(&app, id, claim).await
            } else {
                drop(flight);
                Answer::failed(StatusCode::GATEWAY_TIMEOUT, "Nobody released this confirm.")
            }
        }
    }
}

/// The first transaction.
fn begin(
    books: &mut Books<'_>,
    claim: &Claim,
    id: &str,
    payment_method: Option<String>,
    slow: Duration,
    late: Duration,
) -> Result<Next, redb::Error> {
    if let Some(answer) = claim.answered(books, app::now_seconds())? {
        return Ok(Next::Answer(answer));
    }
    let Some(mut intent) = books.intent(id)? else {
        // Refused before the work began: Stripe keeps no answer for that.
        return Ok(Next::Answer(Answer::not_found("payment_intent", id)));
    };
    if let Some(token) = payment_method
        && let Err(refusal) = intent_takes_card(&mut intent, token)
    {
        return Ok(Next::Answer(refusal));
    }
    intent.confirm_calls = intent.confirm_calls.saturating_add(1);
    let is_first = intent.confirm_calls == 1;
    let behaviour = if intent.confirmable().is_ok() {
        behaviour_of(&intent)
    } else {
        // No card is asked: `act` refuses, and the refusal is kept.
        OnConfirm::Approve
    };
    let next = match behaviour {
        OnConfirm::HangFirst if is_first => Next::HangUndone,
        OnConfirm::ActLate if is_first => Next::ActAfter {
            wait: late,
            answer: false,
        },
        OnConfirm::Slow => Next::ActAfter {
            wait: slow,
            answer: true,
        },
        OnConfirm::Hold if !intent.released => Next::ActWhenReleased,
        OnConfirm::ActThenHang if is_first => {
            act(books, claim, &mut intent)?;
            Next::HangAnswered
        }
        _ => Next::Answer(act(books, claim, &mut intent)?),
    };
    books.put_intent(&intent)?;
    Ok(next)
}

/// A confirm may bring another card for an intent that lost its own to a decline.
fn intent_takes_card(intent: &mut Intent, token: String) -> Result<(), Answer> {
    use crate::model::IntentStatus::{RequiresConfirmation, RequiresPaymentMethod};
    if cards::find(&token).is_none() {
        return Err(super::intents::no_such_card(&token));
    }
    if matches!(intent.status, RequiresConfirmation | RequiresPaymentMethod) {
        intent.status = RequiresConfirmation;
        intent.payment_method = Some(token.clone());
        intent.card = Some(token);
    }
    Ok(())
}

/// The second transaction, for a card that acts after a wait.
async fn act_now(app: &App, id: String, claim: Claim) -> Answer {
    let acted = app.store.write(move |books| {
        let Some(mut intent) = books.intent(&id)? else {
            return Ok(Answer::not_found("payment_intent", &id));
        };
        let answer = act(books, &claim, &mut intent)?;
        books.put_intent(&intent)?;
        Ok(answer)
    });
    acted.await.unwrap_or_else(Answer::from)
}

/// Asks the card, once, and gives the key its answer. The caller saves the intent in the same
/// transaction.
fn act(books: &mut Books<'_>, claim: &Claim, intent: &mut Intent) -> Result<Answer, redb::Error> {
    let now = app::now_seconds();
    let charge = Charge {
        id: format!("ch_{}", Uuid::now_v7().simple()),
        idempotency_key: claim.key.clone(),
        created: now,
    };
    let answer = match behaviour_of(intent) {
        OnConfirm::Decline { decline_code } => decline(intent, decline_code),
        OnConfirm::Fail { acts } => fail(intent, acts.then_some(charge)),
        _ => match intent.capture(charge) {
            Ok(()) => Answer::ok(intent.render()),
            Err(_) => Answer::unexpected_state("confirm", intent),
        },
    };
    claim.keep(books, answer, now)
}

fn decline(intent: &mut Intent, decline_code: &str) -> Answer {
    let message = match decline_code {
        "insufficient_funds" => "Your card has insufficient funds.",
        _ => "Your card was declined.",
    };
    let decline = Decline {
        decline_code: decline_code.into(),
        message: message.into(),
    };
    match intent.decline(decline.clone()) {
        Ok(()) => Answer::declined(&decline, intent),
        Err(_) => Answer::unexpected_state("confirm", intent),
    }
}

/// A 500 that stays under its key, whether or not the money was taken before it.
fn fail(intent: &mut Intent, charge: Option<Charge>) -> Answer {
    let result = match charge {
        Some(charge) => intent.capture(charge),
        None => intent.confirmable(),
    };
    match result {
        Ok(()) => Answer::failed(
            StatusCode::INTERNAL_SERVER_ERROR,
            "An unknown error occurred.",
        ),
        Err(_) => Answer::unexpected_state("confirm", intent),
    }
}

/// Waits until the confirm is released or its intent changed its state; `false` if neither came.
async fn released(app: &App, id: &str) -> bool {
    // Subscribed before the look, so that a release between look and wait is not missed.
    let mut changes = app.changes.subscribe();
    let wait = async {
        loop {
            let intent = app.store.read().and_then(|books| Ok(books.intent(id)?));
            match intent {
                Ok(Some(intent)) if !intent.released && intent.confirmable().is_ok() => {}
                _ => return true,
            }
            if changes.changed().await.is_err() {
                return false;
            }
        }
    };
    tokio::select! {
        released = wait => released,
        () = app.sleep(app.settings.hang()) => false,
    }
}

fn behaviour_of(intent: &Intent) -> OnConfirm {
    let card = intent.card.as_deref().and_then(cards::find);
    card.map_or(OnConfirm::Approve, |card| card.on_confirm)
}
