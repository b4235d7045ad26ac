use tercet_payment::{Ack, Error};

use crate::world::{AMOUNT, Saga, World, accepted};

#[tokio::test]
async fn a_charge_is_acked_before_the_processor_is_asked_and_done_right_after() {
    let mut world = World::new().await;
    let instance = world.instance("a");
    let saga = Saga::new();
    // Nobody works yet: the ack waits for nobody.
    accepted(
        instance
            .app
            .charge_payment(saga.charge("pm_card_visa"))
            .await,
    );
    assert!(world.calls(saga.payment).await.is_empty());
    world.run(instance);
    world.reaches(saga.payment, "CHARGED").await;
    let claims: i32 = sqlx::query_scalar("SELECT attempts FROM payments WHERE payment_id = $1")
        .bind(saga.payment)
        .fetch_one(world.database.pool())
        .await
        .unwrap();
    assert_eq!(claims, 1, "handed over, not found by a poll");

    world
        .sim
        .account(saga.payment)
        .await
        .assert_charged_once(saga.payment);
    let events = world.events(saga.payment).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].name, "PaymentCharged");
    assert_eq!(events[0].payload["amountMinor"], AMOUNT.to_string());
    assert_eq!(events[0].payload["currency"], "EUR");
    assert_eq!(events[0].payload["orderId"], saga.order.to_string());
    assert!(
        events[0].payload["occurredAt"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
    let headers = &events[0].headers;
    assert_eq!(headers["ce_outcome"], "final");
    assert_eq!(headers["ce_sagaid"], saga.id.to_string());
    assert_eq!(headers["ce_correlationid"], saga.id.to_string());
    assert_eq!(
        headers["ce_commandid"],
        format!("{}:charge-payment:forward", saga.id)
    );
    let calls = world.calls(saga.payment).await;
    assert_eq!(calls, ["CREATE_INTENT OPEN", "CONFIRM SUCCEEDED"]);
}

#[tokio::test]
async fn a_slow_processor_keeps_nobody_waiting() {
    let mut world = World::new().await;
    let instance = world.instance("a");
    let saga = Saga::new();
    accepted(
        instance
            .app
            .charge_payment(saga.charge("pm_sim_confirm_held"))
            .await,
    );
    let again = instance
        .app
        .charge_payment(saga.charge("pm_sim_confirm_held"))
        .await;
    assert_eq!(again.unwrap(), Ack::InProgress);
    world.run(instance);
    world.reaches(saga.payment, "OUTCOME_UNKNOWN").await;
    assert_eq!(world.events(saga.payment).await.len(), 0);

    world.sim.release(saga.payment).await;
    world.reaches(saga.payment, "CHARGED").await;
    world
        .sim
        .account(saga.payment)
        .await
        .assert_charged_once(saga.payment);
}

#[tokio::test]
async fn a_duplicate_gets_the_kept_outcome_and_charges_nothing() {
    let (world, app) = World::running().await;
    let saga = Saga::new().charged(&world, &app, "pm_card_visa").await;
    let told = &world.events(saga.payment).await[0];
    for _ in 0..3 {
        let ack = app.charge_payment(saga.charge("pm_card_visa")).await;
        let Ack::Decided(outcome) = ack.unwrap() else {
            panic!("it was decided before")
        };
        assert_eq!(outcome.event_id, told.event_id);
        assert_eq!(outcome.event_type, "tercet.events.v1.PaymentCharged");
        assert_eq!(outcome.payload, told.payload);
        assert_eq!(
            outcome.headers["ce_commandid"],
            told.headers["ce_commandid"]
        );
    }
    assert_eq!(world.events(saga.payment).await.len(), 1);
    world
        .sim
        .account(saga.payment)
        .await
        .assert_charged_once(saga.payment);
}

#[tokio::test]
async fn a_declined_card_is_an_outcome() {
    let (world, app) = World::running().await;
    for (card, reason) in [
        ("pm_card_chargeDeclined", "CARD_DECLINED"),
        (
            "pm_card_chargeDeclinedInsufficientFunds",
            "INSUFFICIENT_FUNDS",
        ),
        ("pm_card_thatDoesNotExist", "RESOURCE_MISSING"),
    ] {
        let saga = Saga::new();
        accepted(app.charge_payment(saga.charge(card)).await);
        world.reaches(saga.payment, "DECLINED").await;
        let events = world.events(saga.payment).await;
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].name, "PaymentDeclined");
        assert_eq!(events[0].payload["reason"], reason);
        world.sim.account(saga.payment).await.assert_untouched();
    }
}

#[tokio::test]
async fn a_payments_id_belongs_to_one_saga() {
    let (world, app) = World::running().await;
    let saga = Saga::new().charged(&world, &app, "pm_card_visa").await;
    let thief = Saga {
        id: uuid::Uuid::now_v7(),
        ..saga
    };
    let stolen = app.charge_payment(thief.charge("pm_card_visa")).await;
    assert!(matches!(stolen, Err(Error::Store(error)) if !error.is_transient()));
    world
        .sim
        .account(saga.payment)
        .await
        .assert_charged_once(saga.payment);
}

#[tokio::test]
async fn a_hundred_charges_at_once_are_a_hundred_charges() {
    let (world, app) = World::running().await;
    let sagas: Vec<Saga> = std::iter::repeat_with(Saga::new).take(100).collect();
    let mut asked = tokio::task::JoinSet::new();
    for saga in &sagas {
        let (app, saga) = (app.clone(), *saga);
        asked.spawn(async move { app.charge_payment(saga.charge("pm_card_visa")).await });
    }
    for ack in asked.join_all().await {
        accepted(ack);
    }
    for saga in sagas {
        world.reaches(saga.payment, "CHARGED").await;
        let account = world.sim.account(saga.payment).await;
        account.assert_charged_once(saga.payment);
    }
}
