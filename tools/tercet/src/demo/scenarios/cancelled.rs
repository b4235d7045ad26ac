use futures::FutureExt as _;

use super::{MUG, Played, Scenario};
use crate::demo::{
    ending::{Ending, Money},
    scene::Scene,
};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "cancelled",
    title: "Cancelled half way",
    story: "The stock is held and the card is being charged when the customer cancels. The charge goes \
            through a moment later; the money and the stock go back.",
    play: |scene| play(scene).boxed_local(),
};

// Held until the cancel has been taken, so that the order is half way for certain. Should the charge
// time out before it is let go, the payment service cancels it at the processor, which is as good.
async fn play(scene: &Scene<'_>) -> anyhow::Result<Played> {
    let placed = scene.place(&[(MUG, 2)], "pm_sim_confirm_held").await?;
    scene
        .payment_is(&placed, &["CHARGING", "OUTCOME_UNKNOWN"])
        .await?;
    scene.cancel(&placed.order_id).await?;
    scene.release(&placed).await?;
    let order = scene.ended(&placed.order_id).await?;
    let ending = Ending {
        payment: &["REFUNDED", "VOIDED"],
        money: Money::UntouchedOrBack,
        ..Ending::cancelled("CANCELLED_BY_CUSTOMER")
    };
    Ok(Played::new(order, ending))
}
