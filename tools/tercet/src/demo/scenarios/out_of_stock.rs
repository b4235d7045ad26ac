use futures::FutureExt as _;

use super::{MUG, Played, Scenario, TEAPOT, missing};
use crate::demo::{check::Check, ending::Ending, scene::Scene};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "out-of-stock",
    title: "Out of stock",
    story: "One line of the basket cannot be had, so none of it is held, no card is asked, and the \
            customer is told which line.",
    play: |scene| play(scene).boxed_local(),
};

async fn play(scene: &Scene<'_>) -> anyhow::Result<Played> {
    let available = scene.stock(TEAPOT).await?.available;
    let requested = available + 20;
    let placed = scene
        .place(&[(MUG, 1), (TEAPOT, requested)], "pm_card_visa")
        .await?;
    let order = scene.ended(&placed.order_id).await?;
    let check = Check::equal(
        "missing",
        format!("{TEAPOT}: {requested} wanted, {available} there"),
        missing(&order),
    );
    let ending = Ending {
        reservation: "REFUSED",
        ..Ending::cancelled("OUT_OF_STOCK")
    };
    Ok(Played::new(order, ending).and(check))
}
