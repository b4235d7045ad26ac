//! What a stack can be told.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

/// A process of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The embedded broker, where one is asked for.
    Broker,
    /// The card processor.
    Gateway,
    /// The inventory service.
    Inventory,
    /// The payment service.
    Payment,
    /// An instance of the order service, counted from 0.
    Order(usize),
}

impl Part {
    /// The program it runs.
    pub fn program(self) -> &'static str {
        match self {
            Self::Broker => "tercet",
            Self::Gateway => "gateway-sim",
            Self::Inventory => "inventory-service",
            Self::Payment => "payment-service",
            Self::Order(_) => "order-service",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broker => f.write_str("broker"),
            Self::Order(0) => f.write_str("order-service"),
            Self::Order(instance) => write!(f, "order-service-{instance}"),
            other => f.write_str(other.program()),
        }
    }
}

/// Which broker carries the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broker {
    /// `tercet broker`, started with the stack.
    Embedded,
    /// A Kafka that runs already, as `host:port,…`.
    Kafka(String),
}

/// The timings that a demo or a test shortens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timings {
    /// How long stock is held for an order.
    pub hold_ttl: Duration,
    /// How often expired holds are looked for.
    pub sweep_interval: Duration,
    /// How long reserving may take before the saga turns back.
    pub reserve_budget: Duration,
    /// How long charging may take before the saga turns back.
    pub charge_budget: Duration,
    /// How long everything before the pivot may take.
    pub saga_budget: Duration,
    /// After how long without an ack a command is sent again for the first time.
    pub no_ack_first: Duration,
    /// How long the payment service waits for the card processor.
    pub gateway_timeout: Duration,
    /// After how long an unknown charge is looked into.
    pub resolve_after: Duration,
}

impl Default for Timings {
    // Ten times shorter than a deployment's: an order that must wait ends in seconds.
    fn default() -> Self {
        Self {
            hold_ttl: Duration::from_mins(2),
            sweep_interval: Duration::from_millis(200),
            reserve_budget: Duration::from_secs(20),
            charge_budget: Duration::from_mins(1),
            saga_budget: Duration::from_secs(90),
            no_ack_first: Duration::from_millis(500),
            gateway_timeout: Duration::from_secs(1),
            resolve_after: Duration::from_millis(300),
        }
    }
}

/// How to build a stack.
#[derive(Debug, Clone)]
pub struct StackOptions {
    /// A superuser's URL of the PostgreSQL server that gets the databases.
    pub postgres_url: String,
    /// Which broker.
    pub broker: Broker,
    /// Unique among the stacks that share the servers: names databases, topics and consumer group.
    pub name: String,
    /// Where logs and the processor's books go; made if it is not there.
    pub directory: PathBuf,
    /// The timings.
    pub timings: Timings,
    /// How many order services share the work.
    pub order_instances: usize,
    /// Load products and stock to play with.
    pub seed_demo: bool,
    /// Variables for one process only, for example `TERCET_CRASH_AT`.
    pub extra: BTreeMap<Part, Vec<(String, String)>>,
}

impl StackOptions {
    /// One order service, seeded, short timings.
    pub fn new(postgres_url: &str, broker: Broker, name: &str, directory: PathBuf) -> Self {
        Self {
            postgres_url: postgres_url.to_owned(),
            broker,
            name: name.to_owned(),
            directory,
            timings: Timings::default(),
            order_instances: 1,
            seed_demo: true,
            extra: BTreeMap::new(),
        }
    }

    /// Sets a variable for one process.
    #[must_use]
    pub fn with_variable(mut self, part: Part, name: &str, value: &str) -> Self {
        let variables = self.extra.entry(part).or_default();
        variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the timings.
    #[must_use]
    pub fn with_timings(mut self, timings: Timings) -> Self {
        self.timings = timings;
        self
    }

    /// Sets the number of order services.
    #[must_use]
    pub fn with_order_instances(mut self, instances: usize) -> Self {
        self.order_instances = instances;
        self
    }
}
