//! PostgreSQL and the broker: those that were named, or private ones that end with the demo.

use clap::ValueEnum;
use tercet_testbed::local::{LocalKafka, LocalPostgres, PostgresOptions};

use crate::{screen::Screen, stack::Broker};

/// Six pools and whoever looks in from outside.
const CONNECTIONS_MAX: u16 = 200;

/// Which broker carries the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BrokerKind {
    /// A small one in a process of our own: quick to start, keeps nothing
    Embedded,
    /// A real Kafka, private unless --kafka-brokers names one; needs Java
    Kafka,
}

/// Which servers the demo shall use.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// A superuser's URL; a private PostgreSQL is started if there is none.
    pub postgres_url: Option<String>,
    /// Which broker.
    pub broker: BrokerKind,
    /// A Kafka that runs already.
    pub kafka_brokers: Option<String>,
}

/// The servers. Those that are ours end with this value.
#[derive(Debug)]
pub(super) struct Backends {
    pub(super) postgres_url: String,
    pub(super) broker: Broker,
    _postgres: Option<LocalPostgres>,
    _kafka: Option<LocalKafka>,
}

impl Backends {
    pub(super) async fn start(wanted: Wanted, screen: &Screen) -> anyhow::Result<Self> {
        // At the same time: a JVM and an initdb both take seconds.
        let (postgres, kafka) = tokio::join!(
            postgres(wanted.postgres_url.is_none(), screen),
            kafka(
                wanted.broker == BrokerKind::Kafka && wanted.kafka_brokers.is_none(),
                screen
            )
        );
        let (postgres, kafka) = (postgres?, kafka?);
        let own = postgres.as_ref().map(|own| own.url().to_owned());
        let brokers = kafka.as_ref().map(|own| own.brokers().to_owned());
        Ok(Self {
            postgres_url: own.or(wanted.postgres_url).unwrap_or_default(),
            broker: match brokers.or(wanted.kafka_brokers) {
                Some(brokers) if wanted.broker == BrokerKind::Kafka => Broker::Kafka(brokers),
                _ => Broker::Embedded,
            },
            _postgres: postgres,
            _kafka: kafka,
        })
    }
}

async fn postgres(wanted: bool, screen: &Screen) -> anyhow::Result<Option<LocalPostgres>> {
    if !wanted {
        return Ok(None);
    }
    let progress = screen.progress("private PostgreSQL");
    let options = PostgresOptions {
        connections_max: CONNECTIONS_MAX,
    };
    match LocalPostgres::start(options).await {
        Ok(postgres) => {
            progress.done(postgres.url());
            Ok(Some(postgres))
        }
        Err(error) => {
            progress.failed();
            Err(error)
        }
    }
}

async fn kafka(wanted: bool, screen: &Screen) -> anyhow::Result<Option<LocalKafka>> {
    if !wanted {
        return Ok(None);
    }
    let progress = screen.progress("private Kafka");
    match LocalKafka::start().await {
        Ok(kafka) => {
            progress.done(kafka.brokers());
            Ok(Some(kafka))
        }
        Err(error) => {
            progress.failed();
            Err(error)
        }
    }
}
