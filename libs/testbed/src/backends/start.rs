use std::env;
use std::time::{Duration, Instant};

use super::{Backend, Backends};
use crate::local::{LocalKafka, LocalPostgres, PostgresOptions};
use crate::{kafka, postgres};

/// Told to whoever watches the backends start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'a> {
    /// Given by its variable: used as it is, and left running.
    Given(&'a str),
    /// Its programs are fetched first, once per machine.
    Fetching(&'a str),
    /// Being started.
    Starting(&'a str),
    /// Can be used; it took this long.
    Ready(&'a str, Duration),
}

const POSTGRES: &str = "PostgreSQL";
const KAFKA: &str = "Kafka";

impl Backends {
    /// Uses what is given, and starts the rest at the same time.
    ///
    /// # Errors
    /// Programs are missing, or a server does not come up.
    pub async fn start(watch: impl Fn(Step<'_>)) -> anyhow::Result<Self> {
        let (postgres, kafka) = tokio::try_join!(postgres(&watch), kafka(&watch))?;
        Ok(Self { postgres, kafka })
    }
}

async fn postgres(watch: &impl Fn(Step<'_>)) -> anyhow::Result<Backend<LocalPostgres>> {
    if let Some(url) = given(postgres::SERVER_VARIABLE) {
        watch(Step::Given(POSTGRES));
        return Ok(Backend::Given(url));
    }
    let started = Instant::now();
    watch(Step::Starting(POSTGRES));
    #[cfg(feature = "containers")]
    if !LocalPostgres::is_installed() {
        let container = super::containers::postgres().await?;
        watch(Step::Ready(POSTGRES, started.elapsed()));
        return Ok(Backend::Container(container));
    }
    let server = LocalPostgres::start(PostgresOptions::default());
    let server = or_given(server.await, postgres::SERVER_VARIABLE)?;
    watch(Step::Ready(POSTGRES, started.elapsed()));
    Ok(Backend::Local(server))
}

async fn kafka(watch: &impl Fn(Step<'_>)) -> anyhow::Result<Backend<LocalKafka>> {
    if let Some(brokers) = given(kafka::BROKERS_VARIABLE) {
        watch(Step::Given(KAFKA));
        return Ok(Backend::Given(brokers));
    }
    let started = Instant::now();
    #[cfg(feature = "containers")]
    if !LocalKafka::is_installed() {
        watch(Step::Starting(KAFKA));
        let container = super::containers::kafka().await?;
        watch(Step::Ready(KAFKA, started.elapsed()));
        return Ok(Backend::Container(container));
    }
    watch(if LocalKafka::is_fetched() {
        Step::Starting(KAFKA)
    } else {
        Step::Fetching(KAFKA)
    });
    let broker = or_given(LocalKafka::start().await, kafka::BROKERS_VARIABLE)?;
    watch(Step::Ready(KAFKA, started.elapsed()));
    Ok(Backend::Local(broker))
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether the two variables of tests are set"
)]
fn given(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}

/// The way out that always exists.
fn or_given<T>(started: anyhow::Result<T>, variable: &str) -> anyhow::Result<T> {
    started.map_err(|error| {
        error.context(format!(
            "cannot start one here; {variable} can name one that runs"
        ))
    })
}
