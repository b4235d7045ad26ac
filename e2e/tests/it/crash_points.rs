//! Every line at which a process has been made to die: before and after each commit, each call to the
//! processor, each publication and each reading. It does die there; started again, the order ends as
//! if nothing had happened.

use std::time::Instant;

use tercet_cli::stack::Part;
use tercet_contracts::order::v1::Order;
use tercet_testbed::eventually;
use uuid::Uuid;

use crate::{
    evidence::Story,
    world::{self, Basket, ENDS_WITHIN, World, say},
};

const SKU: &str = "E2E-CRASH";
const ORDER: Part = Part::Order(0);

/// What happens to the order whose processing dies.
#[derive(Clone, Copy)]
enum Fate {
    /// Nothing in its way.
    Confirmed,
    /// It is cancelled while the processor, which took the money, does not answer: so it is refunded.
    Refunded,
}

use Fate::{Confirmed, Refunded};

const POINTS: [(Part, &str, Fate); 23] = [
    (ORDER, "order.after_place_commit", Confirmed),
    (ORDER, "saga.after_save", Confirmed),
    (ORDER, "saga.after_outcome_commit", Confirmed),
    // The second outcome that is obeyed: the charge's, or the undo's.
    (ORDER, "saga.after_outcome_commit:2", Confirmed),
    (ORDER, "saga.after_outcome_commit:2", Refunded),
    (ORDER, "inbox.before_handle", Confirmed),
    (ORDER, "inbox.after_handle", Confirmed),
    (ORDER, "outbox.before_mark", Confirmed),
    (ORDER, "outbox.after_mark", Confirmed),
    (Part::Inventory, "inventory.after_reserve_commit", Confirmed),
    (Part::Inventory, "inventory.after_commit_commit", Confirmed),
    (Part::Inventory, "inventory.after_release_commit", Refunded),
    (Part::Inventory, "outbox.before_mark", Confirmed),
    (Part::Inventory, "outbox.after_mark", Refunded),
    (Part::Payment, "payment.after_charge_open", Confirmed),
    (Part::Payment, "payment.after_gateway_confirm", Confirmed),
    (Part::Payment, "payment.after_charge_mark", Confirmed),
    (Part::Payment, "payment.after_refund_open", Refunded),
    (Part::Payment, "payment.after_gateway_cancel", Refunded),
    (Part::Payment, "payment.after_gateway_refund", Refunded),
    (Part::Payment, "payment.after_refund_mark", Refunded),
    (Part::Payment, "outbox.before_mark", Refunded),
    (Part::Payment, "outbox.after_mark", Confirmed),
];

#[test]
fn an_order_survives_each() {
    world::run(async {
        let mut world = World::start("crash-points", |options| options).await;
        world.shop.offer(SKU, 1_000).await;
        for (part, point, fate) in POINTS {
            let began = Instant::now();
            survive(&mut world, part, point, fate).await;
            say(&format!("{part} at {point}: {:.1?}", began.elapsed()));
        }
        world.close().await;
    });
}

async fn survive(world: &mut World, part: Part, point: &str, fate: Fate) {
    world.arm(part, point).await;
    let key = Uuid::now_v7().to_string();
    let basket = Basket::new(card(fate), &[(SKU, 1)]);
    // If it is the order service that dies, this call may, too.
    let first = world.shop.place_under(&key, &basket).await;
    if let (Refunded, Ok((order, _))) = (fate, &first) {
        world.charging(order).await;
        world.shop.cancel(&order.order_id).await.unwrap();
    }
    world.crashed(part, point).await;
    world.disarm(part).await;

    let order = place_again(world, &key, &basket).await;
    if let Ok((placed, _)) = first {
        assert_eq!(placed.order_id, order.order_id, "{point}");
    }
    world.shop.ended(&order.order_id).await;
    let story = Story::of(world, &order).await;
    let (state, hold, money) = match fate {
        Confirmed => ("CONFIRMED", "COMMITTED", "CHARGED"),
        Refunded => ("CANCELLED", "RELEASED", "REFUNDED"),
    };
    assert_eq!(story.order.state, state, "{point}");
    assert_eq!(story.hold(), hold, "{point}");
    assert_eq!(story.money().0, money, "{point}");
    let (charges, refunds) = story.keys();
    let refunds_expected = usize::from(matches!(fate, Refunded));
    assert_eq!(
        (charges.len(), refunds.len()),
        (1, refunds_expected),
        "{point}"
    );
}

fn card(fate: Fate) -> &'static str {
    match fate {
        Confirmed => "pm_card_visa",
        Refunded => "pm_sim_confirm_acts_then_times_out",
    }
}

/// The same call once more: whatever became of the first, there is one order.
async fn place_again(world: &World, key: &str, basket: &Basket) -> Order {
    eventually("the order service answers again", ENDS_WITHIN, async || {
        let answer = world.shop.place_under(key, basket).await;
        Some(answer.ok()?.0)
    })
    .await
}
