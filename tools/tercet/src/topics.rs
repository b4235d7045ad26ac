//! The topics: their names, their number of partitions, and how a deployment makes them.

use std::time::Duration;

use anyhow::{Context as _, bail};
use backon::{ExponentialBuilder, Retryable as _};
use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    types::RDKafkaErrorCode,
};

/// Partitions of every topic.
pub const PARTITIONS: i32 = 12;

const SERVICES: [&str; 3] = ["order", "payment", "inventory"];
const ATTEMPTS_MAX: usize = 8;
const OPERATION_TIMEOUT: Duration = Duration::from_secs(10);

/// The three topics under `prefix`.
pub fn names(prefix: &str) -> [String; 3] {
    SERVICES.map(|service| format!("{prefix}.{service}.events.v1"))
}

/// Makes the topics on a real Kafka. Fine if they are there already.
pub async fn create(brokers: &str, prefix: &str) -> anyhow::Result<()> {
    let admin: AdminClient<DefaultClientContext> = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .create()
        .context("cannot make a Kafka admin client")?;
    let retry = ExponentialBuilder::default()
        .with_max_times(ATTEMPTS_MAX)
        .with_jitter();
    (|| create_once(&admin, prefix))
        .retry(retry)
        .await
        .with_context(|| format!("cannot make the topics {prefix}.*.events.v1 at {brokers}"))
}

/// Deletes the topics. Fine if they are gone already.
pub async fn delete(brokers: &str, prefix: &str) -> anyhow::Result<()> {
    let admin: AdminClient<DefaultClientContext> = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .create()?;
    let names = names(prefix);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for result in admin.delete_topics(&names, &options()).await? {
        match result {
            Ok(_) | Err((_, RDKafkaErrorCode::UnknownTopicOrPartition)) => {}
            Err((topic, code)) => bail!("cannot delete {topic}: {code}"),
        }
    }
    Ok(())
}

async fn create_once(
    admin: &AdminClient<DefaultClientContext>,
    prefix: &str,
) -> anyhow::Result<()> {
    let names = names(prefix);
    let topics: Vec<NewTopic<'_>> = names
        .iter()
        .map(|name| NewTopic::new(name, PARTITIONS, TopicReplication::Fixed(1)))
        .collect();
    for result in admin.create_topics(&topics, &options()).await? {
        match result {
            Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
            Err((topic, code)) => bail!("cannot make {topic}: {code}"),
        }
    }
    Ok(())
}

fn options() -> AdminOptions {
    AdminOptions::new()
        .operation_timeout(Some(OPERATION_TIMEOUT))
        .request_timeout(Some(OPERATION_TIMEOUT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_named_after_their_service() {
        assert_eq!(
            names("tercet"),
            [
                "tercet.order.events.v1",
                "tercet.payment.events.v1",
                "tercet.inventory.events.v1"
            ]
        );
    }
}
