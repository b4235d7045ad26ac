//! What the auditor reads, as plain values. All SQL of the audit is in this folder.
//!
//! Each database is read in one snapshot. They are read one after the other, the order database first:
//! what it says has ended can only be looked at later by the others, so an ended order is never judged
//! by a participant's past.

mod books;
mod inventory;
mod order;
mod outbox;
mod payment;
mod snapshot;
mod topics;

use std::collections::BTreeMap;

use anyhow::Context as _;
use uuid::Uuid;

pub use books::{Account, Books, Charge, Refund};
pub use inventory::{Reservation, Stock};
pub use order::{Order, Saga};
pub use outbox::{Event, Guard, Outbox, Pending};
pub use payment::Payment;
pub use topics::{Publication, TopicSource, Topics};

/// Where to read.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The order service's database.
    pub order_database: String,
    /// The payment service's database.
    pub payment_database: String,
    /// The inventory service's database.
    pub inventory_database: String,
    /// The card processor; its books are at `/sim/books`.
    pub gateway_url: String,
    /// The topics, if the broker keeps them.
    pub topics: TopicSource,
}

/// Everything that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// By order id.
    pub orders: BTreeMap<Uuid, Order>,
    /// By saga id.
    pub sagas: BTreeMap<Uuid, Saga>,
    /// By payment id.
    pub payments: BTreeMap<Uuid, Payment>,
    /// By reservation id.
    pub reservations: BTreeMap<Uuid, Reservation>,
    /// By SKU.
    pub stock: BTreeMap<String, Stock>,
    /// The processor's.
    pub books: Books,
    /// One for each service.
    pub outboxes: Vec<Outbox>,
    /// The participants' decisions.
    pub guards: Vec<Guard>,
    /// What lies on the topics.
    pub topics: Topics,
}

impl Evidence {
    /// Reads all sources.
    pub async fn gather(sources: &Sources) -> anyhow::Result<Self> {
        let order = order::load(&sources.order_database)
            .await
            .context("the order database")?;
        let payment = payment::load(&sources.payment_database)
            .await
            .context("the payment database")?;
        let inventory = inventory::load(&sources.inventory_database)
            .await
            .context("the inventory database")?;
        let books = Books::fetch(&sources.gateway_url).await?;
        let topics = Topics::read(&sources.topics).await?;
        let mut guards = payment.guards;
        guards.extend(inventory.guards);
        Ok(Self {
            orders: order.orders,
            sagas: order.sagas,
            payments: payment.payments,
            reservations: inventory.reservations,
            stock: inventory.stock,
            books,
            outboxes: vec![order.outbox, payment.outbox, inventory.outbox],
            guards,
            topics,
        })
    }

    /// The saga that runs `order`.
    pub fn saga_of(&self, order: &Order) -> Option<&Saga> {
        self.sagas.get(&order.saga_id)
    }
}
