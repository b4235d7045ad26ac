//! The topics are deleted, with the replies that lie on them, and made again. A saga that waits for a
//! lost reply asks again, and the participant answers with the outcome that it kept.

use std::time::{Duration, Instant};

use tercet_cli::{stack::Part, topics};
use tercet_contracts::order::v1::{Order, order::State};
use tercet_testbed::{eventually, kafka};
use tokio::{task::JoinSet, time::sleep};
use uuid::Uuid;

use crate::world::{self, ENDS_WITHIN, SOON, World, say};

const SKU: &str = "E2E-LOST";
const WHY_UNREAD: &str = "the topics were deleted on purpose";
/// While orders run: before the topics go, while there are none, and after they came back.
const RUN_BEFORE: Duration = Duration::from_secs(4);
const RUN_WITHOUT: Duration = Duration::from_secs(4);
const RUN_AFTER: Duration = Duration::from_secs(4);
const PLACERS: usize = 3;
const CARDS: [&str; 4] = [
    "pm_card_visa",
    "pm_card_chargeDeclined",
    "pm_card_visa",
    "pm_sim_confirm_acts_then_times_out",
];

/// One reply is on the topic and nobody has read it when the topic goes.
#[test]
fn a_reply_that_nobody_read() {
    world::run(async {
        let mut world = World::start("lost-reply", |options| options).await;
        world.shop.offer(SKU, 5).await;
        let order = world.shop.place("pm_sim_confirm_held", &[(SKU, 1)]).await;
        world.charging(&order).await;
        world.stack.kill9(Part::Order(0)).await.unwrap();
        assert!(world.shop.release(&order.payment_id).await);
        replied(&world, &order).await;
        delete_topics(&world).await;
        make_topics(&world).await;
        world.stack.restart(Part::Order(0)).await.unwrap();

        let began = Instant::now();
        let ended = world.shop.ended(&order.order_id).await;
        say(&format!(
            "the lost reply was made good after {:.1?}",
            began.elapsed()
        ));
        assert_eq!(ended.state(), State::Confirmed);
        world.audit_without_topics(WHY_UNREAD).await;
        world.remove().await;
    });
}

/// The topics go while orders are everywhere on their way.
#[test]
fn topics_deleted_mid_run() {
    world::run(async {
        let world = World::start("lost-replies", |options| options).await;
        world.shop.offer(SKU, 100_000).await;
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let mut placers = JoinSet::new();
        for placer in 0..PLACERS {
            let (shop, stopped) = (world.shop.clone(), stopped.clone());
            placers.spawn(async move {
                let mut placed = Vec::new();
                for card in CARDS.iter().cycle().skip(placer) {
                    if *stopped.borrow() {
                        break;
                    }
                    placed.push(shop.place(card, &[(SKU, 1)]).await.order_id);
                    sleep(Duration::from_millis(50)).await;
                }
                placed
            });
        }
        sleep(RUN_BEFORE).await;
        delete_topics(&world).await;
        sleep(RUN_WITHOUT).await;
        make_topics(&world).await;
        let made = Instant::now();
        sleep(RUN_AFTER).await;
        stop.send_replace(true);
        let placed: Vec<String> = placers.join_all().await.concat();

        let ends_within = ENDS_WITHIN.saturating_sub(made.elapsed());
        world.all_ended(ends_within).await;
        say(&format!(
            "{} orders, all ended {:.1?} after the topics existed again",
            placed.len(),
            made.elapsed()
        ));
        world.audit_without_topics(WHY_UNREAD).await;
        world.remove().await;
    });
}

/// Waits until the charge's outcome is on its topic.
async fn replied(world: &World, order: &Order) {
    let id: Uuid = order.payment_id.parse().unwrap();
    eventually("the payment is charged", SOON, async || {
        let status: String =
            sqlx::query_scalar("SELECT status FROM payments WHERE payment_id = $1")
                .bind(id)
                .fetch_one(&world.looks.payment)
                .await
                .ok()?;
        (status == "CHARGED").then_some(())
    })
    .await;
    world.published_by("payment").await;
    world.published_by("inventory").await;
    let topic = format!("{}.payment.events.v1", world.stack.topic_prefix());
    let records = kafka::read_all(&topic).await;
    let replies = records
        .iter()
        .filter(|record| record.key.as_ref() == Some(&order.payment_id));
    assert_eq!(replies.count(), 1);
}

async fn delete_topics(world: &World) {
    for topic in topics::names(world.stack.topic_prefix()) {
        kafka::delete_topic(&topic).await;
    }
}

async fn make_topics(world: &World) {
    let made = topics::create(world.stack.brokers(), world.stack.topic_prefix()).await;
    made.unwrap_or_else(|error| panic!("{error:#}"));
}
