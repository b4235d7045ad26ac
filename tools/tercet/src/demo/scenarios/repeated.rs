use futures::{FutureExt as _, future};

use super::{KETTLE, Played, Scenario};
use crate::{
    demo::{check::Check, ending::Ending, scene::Scene, world::Via},
    ids,
};

/// How often the order is sent.
const SENT: usize = 20;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "repeated",
    title: "Sent twenty times at once, one order",
    story: "An impatient client sends one order twenty times at the same moment, to two order services, \
            under one idempotency key.",
    play: |scene| play(scene).boxed_local(),
};

async fn play(scene: &Scene<'_>) -> anyhow::Result<Played> {
    let key = ids::fresh_key();
    let sends = (0..SENT).map(|number| {
        let via = if number % 2 == 0 {
            Via::Patient
        } else {
            Via::Hasty
        };
        scene.place_via(via, &[(KETTLE, 4)], "pm_card_visa", &key)
    });
    let answers = future::try_join_all(sends).await?;
    let mut ids: Vec<_> = answers.into_iter().map(|order| order.order_id).collect();
    ids.sort();
    ids.dedup();
    let answered = Check::equal(
        "answers",
        format!("{SENT} that name 1 order"),
        format!("{SENT} that name {} order", ids.len()),
    );
    let order = scene.ended(ids.first().map_or("", String::as_str)).await?;
    let saved = scene.orders_of_customer().await?.len();
    let saved = Check::equal(
        "orders",
        "1 of this customer",
        format!("{saved} of this customer"),
    );
    Ok(Played::new(order, Ending::CONFIRMED)
        .and(answered)
        .and(saved))
}
