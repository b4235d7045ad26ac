//! Reads the [`Facts`]: three databases, Kafka, the processor's door, and the services' `/readyz`, all at
//! once. Every part has a time-out, and whatever does not answer within it becomes a fact.
//!
//! The databases need each other: only the order service's knows all ids of an order, and only the
//! participants' find an order by what they made for it. They meet at a board.

mod board;
mod broker;
mod doors;
mod events;
mod inventory;
mod locks;
mod lookup;
mod order;
mod payment;
mod session;

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use self::board::{Board, Place};
use super::{
    broker::Broker,
    facts::{Facts, Found, Health, Read, Services},
    id::{self, Asked},
};

/// Everything is read, or given up, within this.
pub const READ_WITHIN: Duration = Duration::from_millis(850);
/// What an id is of is found within this, or what is known by then must do.
const FIND_WITHIN: Duration = Duration::from_millis(400);

/// Where to read.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The order service's database.
    pub order_database: String,
    /// The payment service's database.
    pub payment_database: String,
    /// The inventory service's database.
    pub inventory_database: String,
    /// Kafka, as `host:port,…`.
    pub brokers: String,
    /// The first part of the topics' names.
    pub topic_prefix: String,
    /// The card processor.
    pub gateway_url: String,
    /// Where the order service serves `/readyz`, as `host:port`.
    pub order_admin: String,
    /// Where the payment service does.
    pub payment_admin: String,
    /// Where the inventory service does.
    pub inventory_admin: String,
}

impl Sources {
    /// The order service's consumer group.
    fn group(&self) -> String {
        format!("{}.order-service", self.topic_prefix)
    }
}

/// What an id is looked up by.
#[derive(Debug, Clone, Copy)]
struct Query<'a> {
    asked: &'a Asked,
    /// Without its collection's name.
    text: &'a str,
}

/// Reads everything about `text`; never longer than [`READ_WITHIN`], whatever hangs.
pub async fn gather(sources: &Sources, text: &str) -> Facts {
    let began = Instant::now();
    let (asked, bare) = id::parse(text);
    let query = Query {
        asked: &asked,
        text: bare,
    };
    let board = Board::new(began + FIND_WITHIN);
    let by = began + READ_WITHIN;
    let (order, payment, inventory) = (
        order::side(&sources.order_database, query, &board),
        payment::side(&sources.payment_database, query, &board),
        inventory::side(&sources.inventory_database, query, &board),
    );
    let (order, payment, inventory, doors) = tokio::join!(
        at_board(&board, Place::Order, by, order),
        at_board(&board, Place::Payment, by, payment),
        at_board(&board, Place::Inventory, by, inventory),
        doors_of(sources, READ_WITHIN),
    );
    let subject = board.found();
    Facts {
        asked: text.trim().to_owned(),
        found: subject.map(|subject| Found {
            kind: subject.kind,
            order_id: subject.order_id,
            event: subject.event,
        }),
        order,
        payment,
        inventory,
        broker: doors.broker.into(),
        gateway: doors.gateway.into(),
        services: Services {
            order: doors.order.into(),
            payment: doors.payment.into(),
            inventory: doors.inventory.into(),
        },
    }
}

/// What is known of the parts that are no databases, or why nothing is.
#[derive(Debug)]
pub(crate) struct Doors {
    pub(crate) broker: Result<Broker, String>,
    pub(crate) gateway: Result<(), String>,
    pub(crate) order: Result<Health, String>,
    pub(crate) payment: Result<Health, String>,
    pub(crate) inventory: Result<Health, String>,
}

/// Asks them all at once.
pub(crate) async fn doors_of(sources: &Sources, within: Duration) -> Doors {
    let by = Instant::now() + within;
    let health = |address| bounded(by, doors::health(address));
    let brokers = broker::ask(&sources.brokers, &sources.topic_prefix, sources.group());
    let (broker, gateway, order, payment, inventory) = tokio::join!(
        bounded(by, brokers),
        bounded(by, doors::gateway(&sources.gateway_url)),
        health(&sources.order_admin),
        health(&sources.payment_admin),
        health(&sources.inventory_admin),
    );
    Doors {
        broker,
        gateway,
        order,
        payment,
        inventory,
    }
}

/// A part's answer, or why there is none.
async fn bounded<T>(
    by: Instant,
    part: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let asked = Instant::now();
    let answer = timeout_at(by, part).await;
    answer.unwrap_or_else(|_| {
        let waited = asked.elapsed().as_millis();
        Err(format!("no answer within {waited} ms"))
    })
}

/// The same; whoever waits at the board for a part that is silent learns that it found nothing.
async fn at_board<T>(
    board: &Board,
    place: Place,
    by: Instant,
    part: impl Future<Output = Result<T, String>>,
) -> Read<T> {
    let read = bounded(by, part).await;
    board.give_up(place);
    read.into()
}
