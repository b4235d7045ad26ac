use anyhow::{Context as _, bail};
use futures::FutureExt as _;
use tercet_contracts::order::v1 as pb;
use tokio_stream::StreamExt as _;

use super::{GREEN_TEA, MUG, Played, Scenario};
use crate::{
    demo::{ending::Ending, scene::Scene, world::Via},
    view::OrderView,
};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "confirmed",
    title: "Confirmed",
    story: "Stock is reserved, the card is charged, the stock is committed. The client watches.",
    play: |scene| play(scene).boxed_local(),
};

async fn play(scene: &Scene<'_>) -> anyhow::Result<Played> {
    let placed = scene
        .place(&[(GREEN_TEA, 2), (MUG, 1)], "pm_card_visa")
        .await?;
    let watched = watch(scene, &placed.order_id).await?;
    // The stream and a read must agree.
    let order = scene.ended(&placed.order_id).await?;
    if watched != order {
        bail!("WatchOrder's last word was {watched:?}, GetOrder says {order:?}");
    }
    Ok(Played::new(order, Ending::CONFIRMED))
}

/// Follows the order until the stream ends, as it must when the order has ended.
async fn watch(scene: &Scene<'_>, order_id: &str) -> anyhow::Result<OrderView> {
    let message = pb::WatchOrderRequest {
        order_id: order_id.to_owned(),
    };
    let mut orders = scene.world().orders(Via::Patient).orders();
    let mut changes = orders
        .watch_order(message)
        .await
        .context("WatchOrder")?
        .into_inner();
    let mut last = None;
    while let Some(change) = changes.next().await {
        last = change.context("WatchOrder")?.order.map(OrderView::from);
    }
    last.context("WatchOrder ended without a word")
}
