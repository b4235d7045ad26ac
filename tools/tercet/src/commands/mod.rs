//! One file a noun: its arguments, then what each verb does.

mod audit;
mod broker;
mod demo;
mod doctor;
mod order;
mod pages;
mod places;
mod product;
mod saga;
mod stock;
mod why;

use clap::Subcommand;

use crate::{failure::Failure, screen::Screen, settings::Global};

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// See the whole system at work: eight orders, one for each ending, drawn and audited
    Demo(demo::Demo),
    /// Run a Kafka broker for development in this process; it keeps nothing
    Broker(broker::Broker),
    /// Place, read, watch and cancel orders
    Order {
        /// What to do with orders.
        #[command(subcommand)]
        verb: order::Order,
    },
    /// What can be ordered
    Product {
        /// What to do with products.
        #[command(subcommand)]
        verb: product::Product,
    },
    /// Read and correct the stock
    Stock {
        /// What to do with stock.
        #[command(subcommand)]
        verb: stock::Stock,
    },
    /// See the sagas that run the orders
    Saga {
        /// What to do with sagas.
        #[command(subcommand)]
        verb: saga::Saga,
    },
    /// Say why an order is where it is: one sentence, what shows it, what happens next
    Why(why::Why),
    /// Say what is wrong with a setup, and the remedy
    Doctor(Box<doctor::Doctor>),
    /// Prove over the databases, the topics and the processor's books that everything adds up
    Audit(audit::Audit),
}

impl Command {
    /// Does it.
    pub async fn run(self, global: &Global, screen: &Screen) -> Result<(), Failure> {
        match self {
            Self::Demo(demo) => demo.run(screen).await,
            Self::Broker(broker) => broker.run(screen).await,
            Self::Order { verb } => verb.run(global, screen).await,
            Self::Product { verb } => verb.run(global, screen).await,
            Self::Stock { verb } => verb.run(global, screen).await,
            Self::Saga { verb } => verb.run(global, screen).await,
            Self::Why(why) => why.run(screen).await,
            Self::Doctor(doctor) => doctor.run(screen).await,
            Self::Audit(audit) => audit.run(screen).await,
        }
    }
}
