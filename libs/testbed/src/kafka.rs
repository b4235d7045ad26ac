//! Topics on the test broker: made, removed, and read from their beginning.

use std::collections::BTreeMap;
use std::time::Duration;

use rdkafka::Message;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::{BorrowedMessage, Headers};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use uuid::Uuid;

use crate::eventually;

/// The variable that names the test broker: `host:port[,host:port…]`.
pub const BROKERS_VARIABLE: &str = "TERCET_TEST_KAFKA_BROKERS";

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// librdkafka tries to connect again and again within it.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
const TOPIC_SETTLES_WITHIN: Duration = Duration::from_secs(20);
const READ_WITHIN: Duration = Duration::from_secs(30);

/// One message as it lies on a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The record's key, the aggregate id in our topics.
    pub key: Option<String>,
    /// Empty for a tombstone.
    pub payload: Vec<u8>,
    /// Header values as text; CloudEvents headers are UTF-8.
    pub headers: BTreeMap<String, String>,
    /// Where it lies.
    pub partition: i32,
    /// Its position there.
    pub offset: i64,
}

/// The test brokers, from [`BROKERS_VARIABLE`].
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads this variable"
)]
pub fn brokers() -> String {
    std::env::var(BROKERS_VARIABLE).unwrap_or_else(|_| {
        panic!("{BROKERS_VARIABLE} is not set: run the tests by `make test` or `testbed exec -- …`")
    })
}

/// The brokers can be reached and say who they are.
pub(crate) async fn answers(brokers: &str) -> Result<(), String> {
    // First, because librdkafka backs off while nobody listens yet.
    let connected = tokio::net::TcpStream::connect(brokers).await;
    connected.map_err(|error| error.to_string())?;
    let brokers = brokers.to_owned();
    let asked = tokio::task::spawn_blocking(move || {
        let metadata = reader(&brokers)?.fetch_metadata(None, ANSWERS_WITHIN)?;
        anyhow::ensure!(!metadata.brokers().is_empty(), "no broker yet");
        Ok(())
    });
    let answer = asked.await.map_err(|error| error.to_string())?;
    answer.map_err(|error| error.to_string())
}

/// `prefix` made unique, for topics and consumer groups of one test.
pub fn unique(prefix: &str) -> String {
    // v7 ids of one moment share their beginning: the end is the random part.
    let id = Uuid::now_v7().simple().to_string();
    format!("{prefix}-{}", &id[16..])
}

/// Creates a topic on the test brokers and waits until it can be used.
pub async fn create_topic(name: &str, partitions: i32) {
    create_topic_on(&brokers(), name, partitions)
        .await
        .unwrap_or_else(|error| panic!("topic {name}: {error:#}"));
}

/// Creates a topic on `brokers` and waits until every partition has a leader; one that exists is an
/// error.
///
/// # Errors
/// The broker refuses, or cannot be reached.
pub async fn create_topic_on(brokers: &str, name: &str, partitions: i32) -> anyhow::Result<()> {
    let topic = NewTopic::new(name, partitions, TopicReplication::Fixed(1));
    let results = admin(brokers)?
        .create_topics([&topic], &AdminOptions::new())
        .await?;
    for result in results {
        result.map_err(|(topic, code)| anyhow::anyhow!("cannot create topic {topic}: {code}"))?;
    }
    let wanted = usize::try_from(partitions)?;
    wait_for_leaders(brokers, name, wanted).await;
    Ok(())
}

/// Deletes a topic on the test brokers and waits until they no longer know it.
pub async fn delete_topic(name: &str) {
    let brokers = brokers();
    let admin = admin(&brokers).unwrap();
    for result in admin
        .delete_topics(&[name], &AdminOptions::new())
        .await
        .unwrap()
    {
        result.unwrap_or_else(|(topic, code)| panic!("cannot delete topic {topic}: {code}"));
    }
    wait_for_leaders(&brokers, name, 0).await;
}

/// Everything on a topic, from its beginning to what is its end now, by partition and offset.
pub async fn read_all(topic: &str) -> Vec<Record> {
    read_all_from(&brokers(), topic)
        .await
        .unwrap_or_else(|error| panic!("{topic}: {error:#}"))
}

/// As [`read_all`], from other brokers.
///
/// # Errors
/// The topic does not exist, or the broker cannot be reached.
pub async fn read_all_from(brokers: &str, topic: &str) -> anyhow::Result<Vec<Record>> {
    let (brokers, topic) = (brokers.to_owned(), topic.to_owned());
    tokio::task::spawn_blocking(move || read_blocking(&brokers, &topic)).await?
}

fn read_blocking(brokers: &str, topic: &str) -> anyhow::Result<Vec<Record>> {
    let consumer = reader(brokers)?;
    let metadata = consumer.fetch_metadata(Some(topic), REQUEST_TIMEOUT)?;
    let found = metadata.topics().first();
    let partitions = found
        .map(rdkafka::metadata::MetadataTopic::partitions)
        .unwrap_or_default();
    anyhow::ensure!(!partitions.is_empty(), "no such topic: {topic}");

    let mut assignment = TopicPartitionList::new();
    let mut ends = BTreeMap::new();
    for partition in partitions {
        let (low, high) = consumer.fetch_watermarks(topic, partition.id(), REQUEST_TIMEOUT)?;
        if high > low {
            assignment.add_partition_offset(topic, partition.id(), Offset::Beginning)?;
            ends.insert(partition.id(), high);
        }
    }
    consumer.assign(&assignment)?;

    let mut records = Vec::new();
    let deadline = std::time::Instant::now() + READ_WITHIN;
    while !ends.is_empty() {
        anyhow::ensure!(
            std::time::Instant::now() < deadline,
            "{topic} not read to its end"
        );
        let Some(message) = consumer.poll(Duration::from_millis(100)) else {
            continue;
        };
        let record = record(&message?);
        let end = ends.get(&record.partition).copied();
        if end.is_some_and(|end| record.offset + 1 >= end) {
            ends.remove(&record.partition);
        }
        if end.is_some() {
            records.push(record);
        }
    }
    records.sort_by_key(|record| (record.partition, record.offset));
    Ok(records)
}

fn record(message: &BorrowedMessage<'_>) -> Record {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers = message.headers().map(|headers| {
        headers
            .iter()
            .map(|header| {
                (
                    header.key.to_owned(),
                    header.value.map(text).unwrap_or_default(),
                )
            })
            .collect()
    });
    Record {
        key: message.key().map(text),
        payload: message.payload().unwrap_or_default().to_vec(),
        headers: headers.unwrap_or_default(),
        partition: message.partition(),
        offset: message.offset(),
    }
}

/// Waits until `partitions` partitions of the topic have a leader; 0 waits until it is gone.
async fn wait_for_leaders(brokers: &str, topic: &str, partitions: usize) {
    let what = format!("topic {topic} with {partitions} partitions");
    eventually(&what, TOPIC_SETTLES_WITHIN, async || {
        let (brokers, topic) = (brokers.to_owned(), topic.to_owned());
        let led = tokio::task::spawn_blocking(move || {
            // A client of its own each time: librdkafka caches what it has learnt of a topic.
            let metadata = reader(&brokers)?.fetch_metadata(None, REQUEST_TIMEOUT)?;
            let topic = metadata.topics().iter().find(|found| found.name() == topic);
            let led = topic.map_or(0, |topic| {
                topic
                    .partitions()
                    .iter()
                    .filter(|partition| partition.leader() >= 0)
                    .count()
            });
            anyhow::Ok(led)
        });
        (led.await.ok()?.ok()? == partitions).then_some(())
    })
    .await;
}

fn admin(brokers: &str) -> anyhow::Result<AdminClient<DefaultClientContext>> {
    Ok(ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .create()?)
}

fn reader(brokers: &str) -> anyhow::Result<BaseConsumer> {
    Ok(ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("group.id", "testbed") // required, never joined: partitions are assigned by hand
        .set("enable.auto.commit", "false")
        .set("allow.auto.create.topics", "false")
        .create()?)
}
