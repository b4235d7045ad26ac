//! Idempotency keys, finding things, and what is refused.

use reqwest::StatusCode;
use tempfile::tempdir;

use crate::client::{Sim, confirm};

#[tokio::test]
async fn a_key_has_one_answer_even_after_a_restart() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let id = sim.intent("p1", "pm_card_visa").await;
    let sim = sim.restart(folder.path()).await;
    assert_eq!(sim.intent("p1", "pm_card_visa").await, id);

    let form = [
        ("amount", "2000"),
        ("currency", "eur"),
        ("payment_method", "pm_card_visa"),
    ];
    let other = sim.post("/v1/payment_intents", "create:p1", &form).await;
    assert_eq!(other.status, StatusCode::BAD_REQUEST);
    assert_eq!(other.text("/error/type"), "idempotency_error");
}

#[tokio::test]
async fn one_key_twenty_times_at_once_takes_money_once() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let id = sim.intent("p1", "pm_card_visa").await;
    let path = confirm(&id);
    let confirms = (0..20).map(|_| sim.post(&path, "charge:p1", &[]));
    for answer in futures::future::join_all(confirms).await {
        assert!(matches!(
            answer.status,
            StatusCode::OK | StatusCode::CONFLICT
        ));
    }
    assert_eq!(sim.captures().await, 1);
}

#[tokio::test]
async fn intents_are_found_by_payment_and_listed_newest_first() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let first = sim.intent("p1", "pm_card_visa").await;
    let second = sim.intent("p2", "pm_card_visa").await;

    let found = sim
        .get("/v1/payment_intents/search?query=metadata['payment_id']:'p1'")
        .await;
    assert_eq!(found.body["data"].as_array().unwrap().len(), 1);
    assert_eq!(found.text("/data/0/id"), first);
    let none = sim
        .get("/v1/payment_intents/search?query=metadata['payment_id']:'p'")
        .await;
    assert_eq!(none.body["data"].as_array().unwrap().len(), 0);

    let page = sim.get("/v1/payment_intents?limit=1").await;
    assert_eq!(page.text("/data/0/id"), second);
    assert_eq!(page.body["has_more"], true);
    let next = sim
        .get(&format!(
            "/v1/payment_intents?limit=1&starting_after={second}"
        ))
        .await;
    assert_eq!(next.text("/data/0/id"), first);
    assert_eq!(next.body["has_more"], false);
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_not_kept() {
    let folder = tempdir().unwrap();
    let sim = Sim::start(folder.path()).await;
    let wrong: [&[(&str, &str)]; 5] = [
        &[("currency", "eur")],
        &[("amount", "0"), ("currency", "eur")],
        &[("amount", "1"), ("currency", "euro")],
        &[
            ("amount", "1"),
            ("currency", "eur"),
            ("payment_method", "pm_unknown"),
        ],
        &[("amount", "1"), ("currency", "eur"), ("ammount", "1")],
    ];
    for form in wrong {
        let refused = sim.post("/v1/payment_intents", "k", form).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{form:?}");
        assert_eq!(refused.text("/error/type"), "invalid_request_error");
    }
    let right = [("amount", "1"), ("currency", "eur")];
    let created = sim.post("/v1/payment_intents", "k", &right).await;
    assert_eq!(created.text("/status"), "requires_payment_method");

    assert_eq!(
        sim.post(&confirm("pi_none"), "c", &[]).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        sim.get("/v1/payment_intents/pi_none").await.status,
        StatusCode::NOT_FOUND
    );
    let url = format!("http://{}/v1/payment_intents", sim.addr);
    assert_eq!(
        reqwest::get(url).await.unwrap().status(),
        StatusCode::UNAUTHORIZED
    );
}
