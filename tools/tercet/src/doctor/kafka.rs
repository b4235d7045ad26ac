//! Kafka and its topics.

use super::{Check, Way};
use crate::{topics, why::broker::Broker};

/// What there is to say about it.
pub(super) fn checks(brokers: &str, prefix: &str, state: &Result<Broker, String>) -> Vec<Check> {
    let way = Way::Running;
    let broker = match state {
        Ok(broker) => broker,
        Err(why) => {
            return vec![Check::problem(
                way,
                "Kafka",
                format!("does not answer: {why}"),
                "start it, or correct KAFKA_BROKERS",
            )];
        }
    };
    let mut checks = vec![Check::ok(way, "Kafka", brokers)];
    let wanted = usize::try_from(topics::PARTITIONS).unwrap_or_default();
    for topic in topics::names(prefix) {
        let partitions = broker.topics.get(&topic).copied().unwrap_or_default();
        checks.push(match partitions {
            0 => Check::problem(
                way,
                topic,
                "the topic does not exist",
                format!("make it with {wanted} partitions, or correct TOPIC_PREFIX"),
            ),
            count if count < wanted => Check::problem(
                way,
                topic,
                format!("{count} partitions instead of {wanted}"),
                format!("kafka-topics --alter --topic … --partitions {wanted}"),
            ),
            // Kafka cannot take partitions away, and nothing of ours rests on their number.
            count if count > wanted => Check::warning(
                way,
                topic,
                format!("{count} partitions instead of {wanted}"),
                "it works; only a topic that is made anew has fewer",
            ),
            count => Check::ok(way, topic, format!("{count} partitions")),
        });
    }
    checks
}
