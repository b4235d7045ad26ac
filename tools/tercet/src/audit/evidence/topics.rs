//! What lies on the topics: of each record only who, which version, and which event.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use rdkafka::{
    ClientConfig, Message as _,
    consumer::{BaseConsumer, Consumer as _},
    message::{BorrowedMessage, Headers as _},
    metadata::MetadataTopic,
    topic_partition_list::{Offset, TopicPartitionList},
};
use uuid::Uuid;

use crate::topics;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest silence of the broker while records are still to come.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// Where the topics are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicSource {
    /// On a Kafka that keeps them.
    Kafka {
        /// `host:port,…`.
        brokers: String,
        /// The first part of their names.
        prefix: String,
    },
    /// They are not read, and why.
    Unread(String),
}

/// What lies on the topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topics {
    /// Everything from the beginning, by topic and partition, in the broker's order.
    Read(Vec<Vec<Publication>>),
    /// They were not read, and why.
    Unread(String),
}

impl Default for Topics {
    fn default() -> Self {
        Self::Read(Vec::new())
    }
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// The aggregate: the record's key.
    pub aggregate_id: String,
    /// `ce_aggregateversion`.
    pub version: i64,
    /// `ce_id`.
    pub event_id: Uuid,
}

impl Topics {
    pub(super) async fn read(source: &TopicSource) -> anyhow::Result<Self> {
        match source.clone() {
            TopicSource::Unread(why) => Ok(Self::Unread(why)),
            TopicSource::Kafka { brokers, prefix } => {
                let read = tokio::task::spawn_blocking(move || read_all(&brokers, &prefix));
                read.await.context("the reader of the topics broke")?
            }
        }
    }
}

fn read_all(brokers: &str, prefix: &str) -> anyhow::Result<Topics> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        // Required and never joined: partitions are assigned by hand, nothing is committed.
        .set("group.id", "tercet-audit")
        .set("enable.auto.commit", "false")
        .set("allow.auto.create.topics", "false")
        .create()?;
    let mut ends = BTreeMap::new();
    for topic in topics::names(prefix) {
        match ends_of(&consumer, &topic).with_context(|| format!("the topic {topic}"))? {
            Some(found) => ends.extend(found),
            None => {
                return Ok(Topics::Unread(format!(
                    "{topic} no longer holds its first records"
                )));
            }
        }
    }
    Ok(Topics::Read(read_to(&consumer, ends)?))
}

/// A topic and one of its partitions.
type Place = (String, i32);

/// Where each partition that holds anything ends now; nothing if retention has taken some already.
fn ends_of(consumer: &BaseConsumer, topic: &str) -> anyhow::Result<Option<BTreeMap<Place, i64>>> {
    let metadata = consumer.fetch_metadata(Some(topic), REQUEST_TIMEOUT)?;
    let partitions = metadata
        .topics()
        .first()
        .map(MetadataTopic::partitions)
        .unwrap_or_default();
    ensure!(!partitions.is_empty(), "it does not exist");

    let mut ends = BTreeMap::new();
    for partition in partitions {
        let (low, high) = consumer.fetch_watermarks(topic, partition.id(), REQUEST_TIMEOUT)?;
        if low > 0 {
            return Ok(None);
        }
        if high > 0 {
            ends.insert((topic.to_owned(), partition.id()), high);
        }
    }
    Ok(Some(ends))
}

/// The records of each partition up to its end. All partitions are assigned at once: a consumer that
/// is given others goes silent for seconds.
fn read_to(
    consumer: &BaseConsumer,
    mut ends: BTreeMap<Place, i64>,
) -> anyhow::Result<Vec<Vec<Publication>>> {
    let mut assignment = TopicPartitionList::new();
    for (topic, partition) in ends.keys() {
        assignment.add_partition_offset(topic, *partition, Offset::Beginning)?;
    }
    consumer.assign(&assignment)?;

    let mut read: BTreeMap<Place, Vec<Publication>> = BTreeMap::new();
    let mut heard = Instant::now();
    while !ends.is_empty() {
        ensure!(
            heard.elapsed() < SILENCE_MAX,
            "the broker went silent before its end"
        );
        let Some(message) = consumer.poll(Duration::from_millis(200)) else {
            continue;
        };
        let message = message?;
        heard = Instant::now();
        let place = (message.topic().to_owned(), message.partition());
        // What came after we looked is not waited for.
        let Some(end) = ends.get(&place).copied() else {
            continue;
        };
        if message.offset() + 1 >= end {
            ends.remove(&place);
        }
        if let Some(publication) = publication(&message) {
            read.entry(place).or_default().push(publication);
        }
    }
    Ok(read.into_values().collect())
}

/// Who, which version, which event. A record that does not say is not ours.
fn publication(message: &BorrowedMessage<'_>) -> Option<Publication> {
    let headers = message.headers()?;
    let text = |name: &str| {
        let header = headers.iter().find(|header| header.key == name)?;
        std::str::from_utf8(header.value?).ok()
    };
    Some(Publication {
        aggregate_id: String::from_utf8(message.key()?.to_vec()).ok()?,
        version: text("ce_aggregateversion")?.parse().ok()?,
        event_id: text("ce_id")?.parse().ok()?,
    })
}
