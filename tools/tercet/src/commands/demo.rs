//! `tercet demo`: the whole system, eight orders, an audit.

use clap::Args;

use crate::{
    demo::{self, BrokerKind, Wanted},
    failure::Failure,
    screen::Screen,
};

/// What to run the demo on.
#[derive(Debug, Args)]
#[command(after_help = "\
It starts the three services (the order service twice), the card processor and a broker as processes of
their own, each with a database of its own on a private PostgreSQL, and ends them all afterwards. The
programs must have been built: cargo build --bins, or make demo.

Exit code 1 if an order did not end as it must, or the audit found something.

Examples:
  tercet demo
  tercet demo --keep
  tercet demo --broker kafka --output json")]
pub struct Demo {
    /// What carries the events
    #[arg(long, value_enum, default_value_t = BrokerKind::Embedded)]
    broker: BrokerKind,
    /// A Kafka that runs already, instead of a private one
    #[arg(long, value_name = "HOST:PORT", env = "TERCET_DEMO_KAFKA_BROKERS")]
    kafka_brokers: Option<String>,
    /// A superuser's URL of a PostgreSQL that runs already, instead of a private one; the demo's
    /// databases are dropped at the end
    #[arg(
        long,
        value_name = "URL",
        env = "TERCET_DEMO_POSTGRES_URL",
        hide_env_values = true
    )]
    postgres_url: Option<String>,
    /// Stay up afterwards, until Ctrl-C, and print lines to try
    #[arg(long)]
    keep: bool,
}

impl Demo {
    /// Does it.
    pub async fn run(self, screen: &Screen) -> Result<(), Failure> {
        if self.kafka_brokers.is_some() && self.broker == BrokerKind::Embedded {
            return Err(Failure::usage("--kafka-brokers needs --broker kafka"));
        }
        let wanted = Wanted {
            postgres_url: self.postgres_url,
            broker: self.broker,
            kafka_brokers: self.kafka_brokers,
        };
        demo::run(wanted, self.keep, screen).await
    }
}
