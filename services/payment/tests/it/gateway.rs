//! The HTTP adapter against the simulator: what each answer is taken for.

use secrecy::SecretString;
use tercet_payment::{
    domain::{PaymentId, PaymentMethod, RefundId, RefundState},
    gateway::{
        Failure, Gateway as _, HttpGateway, IntentId, IntentState, NewIntent, NewRefund, Silence,
    },
};
use uuid::Uuid;

use crate::{
    sim::Sim,
    world::{AMOUNT, PATIENCE, amount},
};

fn gateway(sim: &Sim) -> HttpGateway {
    HttpGateway::new(&sim.url(), SecretString::from("sk_test_1"), PATIENCE).unwrap()
}

fn intent(payment: PaymentId, card: &str) -> NewIntent {
    NewIntent {
        payment_id: payment,
        amount: amount(),
        payment_method: PaymentMethod::parse(card).unwrap(),
    }
}

#[tokio::test]
async fn a_repeated_create_is_the_same_intent_and_takes_nothing() {
    let sim = Sim::start().await;
    let gateway = gateway(&sim);
    let payment = PaymentId::from(Uuid::now_v7());
    let wanted = intent(payment, "pm_card_visa");
    let first = gateway.create_intent(&wanted).await.unwrap();
    assert_eq!(first.state, IntentState::Open);
    assert_eq!(gateway.create_intent(&wanted).await.unwrap(), first);
    let found = gateway.find_intents(payment).await.unwrap();
    assert_eq!(found, [first]);
    sim.account(payment.uuid()).await.assert_untouched();
}

#[tokio::test]
async fn a_cancel_tells_the_truth_about_an_intent_that_was_faster() {
    let sim = Sim::start().await;
    let gateway = gateway(&sim);
    let payment = PaymentId::from(Uuid::now_v7());
    let created = gateway
        .create_intent(&intent(payment, "pm_card_visa"))
        .await;
    let id = created.unwrap().id;
    gateway.confirm_intent(&id, payment).await.unwrap();
    let cancelled = gateway.cancel_intent(&id).await.unwrap();
    assert_eq!(cancelled.state, IntentState::Succeeded);

    let other = PaymentId::from(Uuid::now_v7());
    let created = gateway.create_intent(&intent(other, "pm_card_visa")).await;
    let id = created.unwrap().id;
    for _ in 0..2 {
        let cancelled = gateway.cancel_intent(&id).await.unwrap();
        assert_eq!(cancelled.state, IntentState::Canceled);
    }
    let late = gateway.confirm_intent(&id, other).await.unwrap();
    assert_eq!(late.state, IntentState::Canceled);
}

#[tokio::test]
async fn not_found_and_not_there_are_silence() {
    let sim = Sim::start().await;
    let nowhere = IntentId("pi_nowhere".into());
    let payment = PaymentId::from(Uuid::now_v7());
    let asked = gateway(&sim);
    let answers = [
        asked.confirm_intent(&nowhere, payment).await,
        asked.cancel_intent(&nowhere).await,
        asked.retrieve_intent(&nowhere).await,
    ];
    for answer in answers {
        let Err(Failure::Unknown { silence, .. }) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(silence, Silence::Answered);
    }
    let key = SecretString::from("sk_test_1");
    let away = HttpGateway::new("http://127.0.0.1:9", key, PATIENCE).unwrap();
    let answer = away.retrieve_intent(&nowhere).await;
    assert!(matches!(
        answer,
        Err(Failure::Unknown {
            silence: Silence::NotSent,
            ..
        })
    ));
}

#[tokio::test]
async fn a_refund_is_found_by_our_own_id() {
    let sim = Sim::start().await;
    let gateway = gateway(&sim);
    let payment = PaymentId::from(Uuid::now_v7());
    let created = gateway
        .create_intent(&intent(payment, "pm_card_visa"))
        .await;
    let id = created.unwrap().id;
    gateway.confirm_intent(&id, payment).await.unwrap();
    let refund = NewRefund {
        payment_id: payment,
        intent: id.clone(),
        refund_id: RefundId::new(),
        amount_minor: AMOUNT,
        idempotency_key: payment.to_string(),
    };
    for _ in 0..2 {
        let state = gateway.create_refund(&refund).await.unwrap();
        assert_eq!(state, RefundState::Succeeded);
    }
    let listed = gateway.list_refunds(&id).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].refund_id, Some(refund.refund_id));

    let again = NewRefund {
        idempotency_key: "another".into(),
        ..refund
    };
    let refused = gateway.create_refund(&again).await;
    assert!(matches!(refused, Err(Failure::Refused { reason, .. })
        if reason.as_str() == "CHARGE_ALREADY_REFUNDED"));
}

#[test]
fn a_url_that_is_none_is_told_at_the_start() {
    for bad in ["", "gateway", "mailto:a@b"] {
        let key = SecretString::from("k");
        assert!(HttpGateway::new(bad, key, PATIENCE).is_err(), "{bad}");
    }
}
