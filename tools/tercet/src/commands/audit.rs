//! `tercet audit`: everything adds up, or not.

use std::time::Duration;

use clap::Args;

use crate::{
    audit::{self, Report, Sources, TopicSource},
    failure::{Exit, Failure},
    screen::Screen,
};

/// What to audit.
#[derive(Debug, Args)]
#[command(after_help = "\
The variables are the services' own, so that it can run where they run. It reads, and never writes.
Exit code 1 if any promise is broken.")]
pub struct Audit {
    /// The order service's database
    #[arg(
        long = "order-database",
        value_name = "URL",
        env = "ORDER_DATABASE_URL",
        hide_env_values = true
    )]
    order_database: String,
    /// The payment service's database
    #[arg(
        long = "payment-database",
        value_name = "URL",
        env = "PAYMENT_DATABASE_URL",
        hide_env_values = true
    )]
    payment_database: String,
    /// The inventory service's database
    #[arg(
        long = "inventory-database",
        value_name = "URL",
        env = "INVENTORY_DATABASE_URL",
        hide_env_values = true
    )]
    inventory_database: String,
    /// The card processor
    #[arg(
        long = "gateway",
        value_name = "URL",
        env = "PAYMENT_GATEWAY_URL",
        default_value = "http://127.0.0.1:8090"
    )]
    gateway_url: String,
    /// The Kafka that keeps the topics; without it they are not read
    #[arg(long, value_name = "HOST:PORT", env = "KAFKA_BROKERS")]
    brokers: Option<String>,
    /// Do not read the topics: the embedded broker forgets them
    #[arg(long)]
    skip_topics: bool,
    /// The first part of the topics' names
    #[arg(
        long,
        value_name = "PREFIX",
        env = "TOPIC_PREFIX",
        default_value = "tercet"
    )]
    topic_prefix: String,
    /// What changed less than so many seconds ago is in flight, and not judged
    #[arg(long = "settle", value_name = "SECONDS", default_value_t = 900)]
    settle_seconds: u64,
}

impl Audit {
    /// Does it.
    pub async fn run(self, screen: &Screen) -> Result<(), Failure> {
        let settle = Duration::from_secs(self.settle_seconds);
        let progress = screen.progress("audit");
        progress.note("reading databases, books and topics");
        let report = match audit::audit(&self.into_sources(), settle).await {
            Ok(report) => report,
            Err(error) => {
                progress.failed();
                return Err(Failure {
                    exit: Exit::Unreachable,
                    ..error.context("the audit could not read everything").into()
                });
            }
        };
        progress.done("read");
        screen.one(&report, Report::draw);
        verdict(&report)
    }

    fn into_sources(self) -> Sources {
        let topics = match self.brokers {
            _ if self.skip_topics => TopicSource::Unread("--skip-topics".to_owned()),
            Some(brokers) => TopicSource::Kafka {
                brokers,
                prefix: self.topic_prefix,
            },
            None => TopicSource::Unread("no --brokers given".to_owned()),
        };
        Sources {
            order_database: self.order_database,
            payment_database: self.payment_database,
            inventory_database: self.inventory_database,
            gateway_url: self.gateway_url,
            topics,
        }
    }
}

/// A broken promise is a failure of the command.
pub(super) fn verdict(report: &Report) -> Result<(), Failure> {
    let broken = report.findings().count();
    if report.clean {
        Ok(())
    } else {
        Err(
            Failure::new(Exit::Failed, format!("the audit has {broken} findings"))
                .advise("tercet saga show SAGA_ID draws what happened"),
        )
    }
}
