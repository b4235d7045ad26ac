use anyhow::Context;
use testcontainers::core::IntoContainerPort;
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, Image, ImageExt};
use testcontainers_modules::kafka::apache::{self, Kafka};
use testcontainers_modules::postgres::Postgres;

/// The versions that docker-compose.yml runs.
const POSTGRES_TAG: &str = "17";
const KAFKA_TAG: &str = "4.3.1";
/// As [`PostgresOptions`](crate::local::PostgresOptions).
const CONNECTIONS_MAX: &str = "max_connections=400";

/// A server in a container, removed when dropped.
#[derive(Debug)]
pub(super) struct Container {
    address: String,
    _container: Box<dyn std::any::Any + Send + Sync>,
}

impl Container {
    pub(super) fn address(&self) -> &str {
        &self.address
    }
}

pub(super) async fn postgres() -> anyhow::Result<Container> {
    let image = Postgres::default()
        .with_host_auth()
        .with_tag(POSTGRES_TAG)
        .with_cmd(["-c", CONNECTIONS_MAX]);
    let container = image
        .start()
        .await
        .context("cannot start PostgreSQL in a container")?;
    let port = port(&container, 5432).await?;
    Ok(Container {
        address: format!("postgres://postgres@127.0.0.1:{port}/postgres"),
        _container: Box::new(container),
    })
}

pub(super) async fn kafka() -> anyhow::Result<Container> {
    let image = Kafka::default()
        .with_tag(KAFKA_TAG)
        .with_env_var("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false")
        .with_env_var("KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS", "0");
    let container = image
        .start()
        .await
        .context("cannot start Kafka in a container")?;
    let port = port(&container, apache::KAFKA_PORT.as_u16()).await?;
    Ok(Container {
        address: format!("127.0.0.1:{port}"),
        _container: Box::new(container),
    })
}

/// On the loopback, whatever `get_host` says: in a container it may name a bridge.
async fn port<I: Image>(container: &ContainerAsync<I>, port: u16) -> anyhow::Result<u16> {
    Ok(container.get_host_port_ipv4(port.tcp()).await?)
}
