//! Are inbox rows kept for long enough? Asked of the broker at start.

use std::time::Duration;

use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, ResourceSpecifier},
    client::DefaultClientContext,
};

use crate::Error;

const TIMEOUT: Duration = Duration::from_secs(5);

/// An error unless inbox rows outlive every message that can still come: `inbox_keep` must be more
/// than each topic's retention and `redrive_age_max`, the age up to which dead letters are sent anew.
///
/// Where the broker does not tell a topic's retention, `topic_retention` is taken for it; without
/// one, that is an error too.
pub async fn check_retention(
    brokers: &str,
    topics: &[String],
    inbox_keep: Duration,
    redrive_age_max: Duration,
    topic_retention: Option<Duration>,
) -> Result<(), Error> {
    for topic in topics {
        let retention = match ask(brokers, topic).await {
            Ok(retention) => retention,
            Err(why) => Retention::For(topic_retention.ok_or_else(|| Error::RetentionUnknown {
                topic: topic.clone(),
                why,
            })?),
        };
        let needed = match retention {
            Retention::ForEver => None,
            Retention::For(retention) => Some(retention + redrive_age_max),
        };
        if needed.is_none_or(|needed| inbox_keep <= needed) {
            return Err(Error::RetentionTooShort {
                topic: topic.clone(),
                inbox_keep,
                topic_retention: match retention {
                    Retention::ForEver => Duration::MAX,
                    Retention::For(retention) => retention,
                },
                redrive_age_max,
            });
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Retention {
    For(Duration),
    ForEver,
}

async fn ask(brokers: &str, topic: &str) -> Result<Retention, String> {
    let admin: AdminClient<DefaultClientContext> = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .create()
        .map_err(|error| error.to_string())?;
    let options = AdminOptions::new().request_timeout(Some(TIMEOUT));
    let described = admin
        .describe_configs(&[ResourceSpecifier::Topic(topic)], &options)
        .await
        .map_err(|error| error.to_string())?;
    let config = described
        .into_iter()
        .next()
        .ok_or_else(|| "the broker answered nothing".to_owned())?
        .map_err(|code| code.to_string())?;
    let value = config
        .entry_map()
        .get("retention.ms")
        .and_then(|entry| entry.value.clone())
        .ok_or_else(|| "the broker names no retention.ms".to_owned())?;
    match value.parse::<i64>() {
        Ok(ms) if ms < 0 => Ok(Retention::ForEver),
        Ok(ms) => Ok(Retention::For(Duration::from_millis(ms.unsigned_abs()))),
        Err(_) => Err(format!("retention.ms is {value:?}")),
    }
}
