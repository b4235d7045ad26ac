//! Customers that keep ordering while services die: each call is sent until it is answered, under one
//! key; some orders are cancelled.

use std::time::Duration;

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use tercet_contracts::order::v1::Order;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep},
};
use tonic::Code;
use uuid::Uuid;

use crate::world::{Basket, ENDS_WITHIN, Shop, World};

const CUSTOMERS: u64 = 4;
const PAUSE_MAX_MS: u64 = 900;
const CANCEL_AFTER_MAX_MS: u64 = 1_200;
const RELEASE_AFTER: Duration = Duration::from_millis(1_500);

/// A customer's patience between two tries.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(100);

const PLENTY: &str = "KILL-PLENTY";
const OTHER: &str = "KILL-OTHER";
/// Runs out on the way.
const SCARCE: &str = "KILL-SCARCE";

/// How an order is paid, how likely that is, and of ten such orders how many are cancelled.
const CARDS: [(&str, u32, u32); 8] = [
    ("pm_card_visa", 8, 1),
    ("pm_card_chargeDeclined", 3, 0),
    ("pm_sim_confirm_acts_then_times_out", 4, 6),
    ("pm_sim_confirm_times_out", 2, 3),
    ("pm_sim_confirm_acts_late", 2, 4),
    ("pm_sim_confirm_held", 2, 3),
    ("pm_sim_slow", 2, 5),
    ("pm_sim_500_stored", 1, 0),
];
const HELD: &str = "pm_sim_confirm_held";

/// Customers in the shop.
pub(super) struct Customers {
    leave: watch::Sender<bool>,
    ordering: JoinSet<Vec<String>>,
}

impl Customers {
    pub(super) async fn come(world: &World, seed: u64) -> Self {
        world.shop.offer(PLENTY, 100_000).await;
        world.shop.offer(OTHER, 100_000).await;
        world.shop.offer(SCARCE, 40).await;
        let (leave, leaving) = watch::channel(false);
        let mut ordering = JoinSet::new();
        for customer in 0..CUSTOMERS {
            let random = StdRng::seed_from_u64(seed ^ (customer + 1));
            ordering.spawn(order(world.shop.clone(), random, leaving.clone()));
        }
        Self { leave, ordering }
    }

    /// They place no more orders; the ids of all they placed.
    pub(super) async fn go(self) -> Vec<String> {
        self.leave.send_replace(true);
        self.ordering.join_all().await.concat()
    }
}

async fn order(shop: Shop, mut random: StdRng, leaving: watch::Receiver<bool>) -> Vec<String> {
    let mut placed = Vec::new();
    while !*leaving.borrow() {
        let (card, _, cancelled_of_ten) =
            *CARDS.choose_weighted(&mut random, |card| card.1).unwrap();
        let order = place(&shop, basket(card, &mut random)).await;
        placed.push(order.order_id.clone());
        if random.random_ratio(cancelled_of_ten, 10) {
            sleep(Duration::from_millis(
                random.random_range(0..CANCEL_AFTER_MAX_MS),
            ))
            .await;
            cancel(&shop, &order).await;
        } else if card == HELD {
            sleep(RELEASE_AFTER).await;
            // Not known to the processor yet: then it is held until its budget is over.
            shop.release(&order.payment_id).await;
        }
        sleep(Duration::from_millis(random.random_range(0..PAUSE_MAX_MS))).await;
    }
    placed
}

fn basket(card: &'static str, random: &mut StdRng) -> Basket {
    let second = if random.random_ratio(1, 4) {
        SCARCE
    } else {
        OTHER
    };
    let quantity = random.random_range(1..=3);
    Basket::new(card, &[(PLENTY, quantity), (second, 1)])
}

/// The service may die before, while and after it places the order: it is asked until it answers.
async fn place(shop: &Shop, basket: Basket) -> Order {
    let key = Uuid::now_v7().to_string();
    let deadline = Instant::now() + ENDS_WITHIN;
    loop {
        let status = match shop.place_under(&key, &basket).await {
            Ok((order, _)) => return order,
            Err(status) => status,
        };
        let refused = matches!(
            status.code(),
            Code::InvalidArgument | Code::NotFound | Code::FailedPrecondition
        );
        assert!(!refused, "{basket:?}: {status:?}");
        assert!(Instant::now() < deadline, "no answer: {status:?}");
        sleep(ASK_AGAIN_AFTER).await;
    }
}

/// Whether it comes in time is none of the customer's business: too late is an answer as well.
async fn cancel(shop: &Shop, order: &Order) {
    let deadline = Instant::now() + ENDS_WITHIN;
    while let Err(status) = shop.cancel(&order.order_id).await {
        if matches!(status.code(), Code::FailedPrecondition | Code::Aborted) {
            return;
        }
        assert!(Instant::now() < deadline, "no answer: {status:?}");
        sleep(ASK_AGAIN_AFTER).await;
    }
}
