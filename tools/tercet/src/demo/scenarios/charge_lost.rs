use futures::FutureExt as _;

use super::{GREEN_TEA, Played, Scenario};
use crate::demo::{check::Check, ending::Ending, scene::Scene};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "charge-lost",
    title: "Charge timed out but had succeeded, confirmed without a second charge",
    story: "The processor takes the money and its answer is lost. The payment service asks again under \
            the same key, and learns that it has been paid.",
    play: |scene| play(scene).boxed_local(),
};

async fn play(scene: &Scene<'_>) -> anyhow::Result<Played> {
    let card = "pm_sim_confirm_acts_then_times_out";
    let placed = scene.place(&[(GREEN_TEA, 1)], card).await?;
    let order = scene.ended(&placed.order_id).await?;
    let lost = scene.processor_was_silent(&order).await?;
    let answer = if lost {
        "the first was lost"
    } else {
        "the first came"
    };
    Ok(Played::new(order, Ending::CONFIRMED).and(Check::equal(
        "answer",
        "the first was lost",
        answer,
    )))
}
