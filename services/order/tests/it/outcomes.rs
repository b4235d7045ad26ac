//! What comes from the topics: obeyed once, skipped, or parked.

use tercet_contracts::{events::v1 as events, order::v1::order::State};
use tercet_inbox::{HandleError, Handled};
use uuid::Uuid;

use crate::world::{World, outcome};

const TRANSITIONS: &str = "SELECT sum(version)::bigint FROM sagas";
const INBOX_ROWS: &str = "SELECT count(*) FROM inbox_messages";

#[tokio::test]
async fn outcomes_lead_an_order_to_its_end() {
    let world = World::new().await;
    let order = world.placed_at("end").await;
    let ended = world.service.get(&order.order_id).await;
    assert_eq!(ended.state(), State::Confirmed);
    assert_eq!(ended.stage, "confirmed");
    assert_eq!(ended.version, 2);
    assert_eq!(
        world.events(&order).await,
        ["OrderPlaced", "OrderConfirmed"]
    );
}

#[tokio::test]
async fn a_declined_card_gives_the_stock_back() {
    let world = World::new().await;
    let order = world.placed_at("charge-payment").await;
    let declined = events::PaymentDeclined {
        reason: "CARD_DECLINED".to_owned(),
        ..Default::default()
    };
    world
        .answers(&order, "charge-payment:forward", &declined)
        .await;
    world
        .fakes
        .gets(&order.saga_id, "reserve-stock:backward")
        .await;
    let released = events::ReservationReleased::default();
    world
        .answers(&order, "reserve-stock:backward", &released)
        .await;
    let ended = world.service.get(&order.order_id).await;
    assert_eq!(ended.state(), State::Cancelled);
    assert_eq!(ended.cancel_reason.unwrap().reason, "CARD_DECLINED");
}

#[tokio::test]
async fn an_outcome_counts_once_however_often_it_comes() {
    let world = World::new().await;
    let order = world.placed().await;
    let message = outcome(
        &order,
        "reserve-stock:forward",
        &events::StockReserved::default(),
    );
    for _ in 0..3 {
        assert_eq!(
            world.hand_over(message.clone()).await.unwrap(),
            Handled::Done
        );
    }
    assert_eq!(world.count(TRANSITIONS).await, 2);
    assert_eq!(world.count(INBOX_ROWS).await, 1);
}

#[tokio::test]
async fn a_late_outcome_is_written_down_and_not_obeyed() {
    let world = World::new().await;
    let order = world.placed_at("charge-payment").await;
    // Another event about the same command: as from a restored participant.
    let refused = events::ReservationRefused::default();
    world
        .answers(&order, "reserve-stock:forward", &refused)
        .await;
    let now = world.service.get(&order.order_id).await;
    assert_eq!(now.stage, "payment is being confirmed");
    let late = "SELECT count(*) FROM saga_log WHERE entry = 'LATE_OUTCOME'";
    assert_eq!(world.count(late).await, 1);
}

#[tokio::test]
async fn what_is_no_outcome_of_ours_is_skipped() {
    let world = World::new().await;
    let order = world.placed().await;
    let reserved = events::StockReserved::default();
    let mut event = outcome(&order, "reserve-stock:forward", &reserved);
    event.headers.remove("ce_commandid");
    assert_eq!(world.hand_over(event).await.unwrap(), Handled::Skipped);

    for other in ["tercet.events.v1.EventDiscarded", "some.other.Type"] {
        let mut event = outcome(&order, "reserve-stock:forward", &reserved);
        event.headers.insert("ce_type".to_owned(), other.to_owned());
        assert_eq!(world.hand_over(event).await.unwrap(), Handled::Skipped);
    }
    assert_eq!(world.count(INBOX_ROWS).await, 0);
    assert_eq!(world.count(TRANSITIONS).await, 1);
}

#[tokio::test]
async fn what_can_never_take_effect_is_parked() {
    let world = World::new().await;
    let order = world.placed().await;
    let good = outcome(
        &order,
        "reserve-stock:forward",
        &events::StockReserved::default(),
    );

    let mut foreign = good.clone();
    let nobody = Uuid::now_v7().to_string();
    foreign.headers.insert("ce_sagaid".to_owned(), nobody);
    let mut torn = good.clone();
    torn.payload = b"{".to_vec();
    let mut nameless = good.clone();
    nameless.headers.remove("ce_id");
    for (what, message) in [("foreign", foreign), ("torn", torn), ("nameless", nameless)] {
        let parked = world.hand_over(message).await;
        assert!(matches!(parked, Err(HandleError::Poison(_))), "{what}");
    }
    assert_eq!(world.count(INBOX_ROWS).await, 0);
}

#[tokio::test]
async fn a_saga_that_cannot_run_here_holds_nobody_up() {
    let world = World::new().await;
    let order = world.placed().await;
    sqlx::query("UPDATE sagas SET definition_version = 99")
        .execute(world.database.pool())
        .await
        .unwrap();
    let reserved = events::StockReserved::default();
    world
        .answers(&order, "reserve-stock:forward", &reserved)
        .await;
    // No row: the outcome comes again with the saga's next ask.
    assert_eq!(world.count(INBOX_ROWS).await, 0);
}
