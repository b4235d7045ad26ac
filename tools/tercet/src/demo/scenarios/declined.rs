use futures::FutureExt as _;

use super::{BLACK_TEA, Played, Scenario};
use crate::demo::{ending::Ending, scene::Scene};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "declined",
    title: "Card declined, stock back",
    story: "The card is refused after the stock was reserved. The saga gives the stock back.",
    play: |scene| play(scene).boxed_local(),
};

async fn play(scene: &Scene<'_>) -> anyhow::Result<Played> {
    let placed = scene
        .place(&[(BLACK_TEA, 3)], "pm_card_chargeDeclined")
        .await?;
    let order = scene.ended(&placed.order_id).await?;
    let ending = Ending {
        payment: &["DECLINED"],
        ..Ending::cancelled("CARD_DECLINED")
    };
    Ok(Played::new(order, ending))
}
