//! Kafka: whether it answers, whether the topics are there, and how far the order service has read.

use std::{collections::BTreeMap, time::Duration};

use rdkafka::{
    ClientConfig, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _},
    metadata::MetadataTopic,
    topic_partition_list::Offset,
};
use tokio::{sync::oneshot, time::Instant};

use super::doors::knock;
use crate::{
    topics,
    why::broker::{Broker, Group},
};

/// For all questions together.
const WITHIN: Duration = Duration::from_millis(750);

/// Asks it.
pub(super) async fn ask(brokers: &str, prefix: &str, group: String) -> Result<Broker, String> {
    let asked = Instant::now();
    // First, because librdkafka goes on trying where nobody listens.
    someone_listens(brokers).await?;
    let (tell, answer) = oneshot::channel();
    let (addresses, names) = (brokers.to_owned(), topics::names(prefix));
    let until = asked + WITHIN;
    // A thread of its own that nobody waits for: librdkafka may hang beyond every time-out.
    let asking = std::thread::Builder::new()
        .name("why-kafka".to_owned())
        .spawn(move || {
            let answer = Questions::new(&addresses, &group, until)
                .and_then(|questions| questions.ask(&names, group));
            let _ = tell.send(answer);
        });
    asking.map_err(|error| error.to_string())?;
    match tokio::time::timeout_at(until, answer).await {
        Ok(Ok(answered)) => answered.map_err(|error| format!("{brokers}: {error}")),
        Ok(Err(_)) => Err("the client broke".to_owned()),
        Err(_) => Err(format!("{brokers} takes connections, and does not answer")),
    }
}

async fn someone_listens(brokers: &str) -> Result<(), String> {
    let mut refused = Vec::new();
    for broker in brokers.split(',').map(str::trim) {
        let Some((host, port)) = broker.rsplit_once(':') else {
            refused.push(format!("{broker:?} is no host:port"));
            continue;
        };
        match knock(host, port.parse().unwrap_or_default()).await {
            Ok(()) => return Ok(()),
            Err(why) => refused.push(why),
        }
    }
    Err(refused.join(", "))
}

struct Questions {
    client: BaseConsumer,
    until: Instant,
}

impl Questions {
    fn new(brokers: &str, group: &str, until: Instant) -> rdkafka::error::KafkaResult<Self> {
        let client = ClientConfig::new()
            .set("bootstrap.servers", brokers)
            // Asked about, never joined.
            .set("group.id", group)
            .set("enable.auto.commit", "false")
            .set("allow.auto.create.topics", "false")
            .set("socket.timeout.ms", WITHIN.as_millis().to_string())
            .set_log_level(rdkafka::config::RDKafkaLogLevel::Emerg)
            .create()?;
        Ok(Self { client, until })
    }

    fn left(&self) -> Duration {
        // librdkafka takes 0 for "do not wait", which is an error of its own kind.
        let left = self.until.saturating_duration_since(Instant::now());
        left.max(Duration::from_millis(1))
    }

    fn ask(&self, names: &[String], group: String) -> rdkafka::error::KafkaResult<Broker> {
        let metadata = self.client.fetch_metadata(None, self.left())?;
        let topics: BTreeMap<String, usize> = names
            .iter()
            .map(|name| {
                let topic = metadata.topics().iter().find(|topic| topic.name() == name);
                (
                    name.clone(),
                    topic.map_or(0, |topic| topic.partitions().len()),
                )
            })
            .collect();
        // What follows is worth less: a broker that cannot say (the embedded one) is still up.
        Ok(Broker {
            group: self.group(group, metadata.topics(), &topics),
            topics,
        })
    }

    fn group(
        &self,
        name: String,
        metadata: &[MetadataTopic],
        topics: &BTreeMap<String, usize>,
    ) -> Option<Group> {
        // The order service reads what the others tell, never its own.
        let read = metadata.iter().filter(|topic| {
            topics.contains_key(topic.name()) && !topic.name().ends_with(".order.events.v1")
        });
        let mut places = TopicPartitionList::new();
        for topic in read {
            for partition in topic.partitions() {
                places.add_partition(topic.name(), partition.id());
            }
        }
        let committed = self
            .client
            .committed_offsets(places.clone(), self.left())
            .ok()?;
        let behind = self.behind(&committed, places)?;
        let list = self.client.fetch_group_list(Some(&name), self.left()).ok();
        let known = list
            .as_ref()
            .and_then(|list| list.groups().iter().find(|group| group.name() == name));
        Some(Group {
            state: known
                .map(|group| group.state().to_owned())
                .unwrap_or_default(),
            members: known
                .map(|group| group.members().iter().map(|it| it.client_id().to_owned()))
                .map(|members| members.filter(|id| !id.is_empty()).collect())
                .unwrap_or_default(),
            name,
            behind,
        })
    }

    fn behind(
        &self,
        committed: &TopicPartitionList,
        mut ends: TopicPartitionList,
    ) -> Option<BTreeMap<String, i64>> {
        ends.set_all_offsets(Offset::End).ok()?;
        let ends = self.client.offsets_for_times(ends, self.left()).ok()?;
        let mut behind = BTreeMap::new();
        for end in ends.elements() {
            let Offset::Offset(last) = end.offset() else {
                continue;
            };
            let read = committed
                .find_partition(end.topic(), end.partition())
                .and_then(|read| read.offset().to_raw())
                .filter(|offset| *offset >= 0)
                .unwrap_or(0);
            *behind.entry(end.topic().to_owned()).or_insert(0) += (last - read).max(0);
        }
        Some(behind)
    }
}
