use futures::FutureExt as _;

use super::{Played, SCALE, Scenario, missing};
use crate::{
    demo::{
        check::Check,
        ending::{Ending, Money},
        scene::Scene,
        world::Via,
    },
    ids,
};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "expired",
    title: "Hold expired, stock gone, money back",
    story: "The card processor is silent for longer than the stock is held. Somebody else gets what \
            it held. Then the money is taken after all, and must be given back.",
    play: |scene| play(scene).boxed_local(),
};

// Nothing here hangs on how fast anything is: each act waits until the one before it has happened.
async fn play(scene: &Scene<'_>) -> anyhow::Result<Played> {
    let (card, key) = ("pm_sim_confirm_held", ids::fresh_key());
    let placed = scene
        .place_via(Via::Hasty, &[(SCALE, 2)], card, &key)
        .await?;
    scene
        .payment_is(&placed, &["CHARGING", "OUTCOME_UNKNOWN"])
        .await?;
    scene.hold_is(&placed, "EXPIRED").await?;
    let gone = scene.stock(SCALE).await?.available - 1;
    scene
        .take_away(SCALE, gone, "sold over the counter")
        .await?;
    scene.release(&placed).await?;
    let order = scene.ended(&placed.order_id).await?;
    let ending = Ending {
        payment: &["REFUNDED"],
        money: Money::Back,
        reservation: "EXPIRED",
        ..Ending::cancelled("HOLD_EXPIRED")
    };
    let missing = missing(&order);
    let expected = format!("{SCALE}: 2 wanted, 1 there");
    Ok(Played::new(order, ending).and(Check::equal("missing", expected, missing)))
}
