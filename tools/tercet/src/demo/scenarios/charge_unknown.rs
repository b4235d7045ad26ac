use futures::FutureExt as _;

use super::{BLACK_TEA, Played, Scenario};
use crate::demo::{
    ending::{Ending, Money},
    scene::Scene,
};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "charge-unknown",
    title: "Charge timed out, cancelled meanwhile: voided or refunded once",
    story: "Nobody knows whether the money was taken when the customer cancels. The payment service makes \
            sure that it never is, or gives it back.",
    play: |scene| play(scene).boxed_local(),
};

// The processor holds the charge until it is cancelled: only the payment service can end this.
async fn play(scene: &Scene<'_>) -> anyhow::Result<Played> {
    let placed = scene
        .place(&[(BLACK_TEA, 1)], "pm_sim_confirm_held")
        .await?;
    scene.payment_is(&placed, &["OUTCOME_UNKNOWN"]).await?;
    scene.cancel(&placed.order_id).await?;
    let order = scene.ended(&placed.order_id).await?;
    let ending = Ending {
        payment: &["VOIDED", "REFUNDED"],
        money: Money::UntouchedOrBack,
        ..Ending::cancelled("CANCELLED_BY_CUSTOMER")
    };
    Ok(Played::new(order, ending))
}
