//! The consumer's settings, and what they make librdkafka do.

use std::time::Duration;

use rdkafka::{ClientConfig, config::RDKafkaLogLevel};

/// How a [`Consumer`](crate::Consumer) works.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConsumerOptions {
    /// `host:port`, several by commas.
    pub brokers: String,
    /// The consumer group, and the consumer's name in dead letters.
    pub group: String,
    /// What it reads. Topics that do not exist yet are waited for.
    pub topics: Vec<String>,
    /// This process's name in the group (static membership). A process that keeps its name over a
    /// restart has its partitions back at once. Two live processes must never share one.
    pub instance_id: String,
    /// After a kill, other members wait this long before they take the partitions.
    pub session_timeout: Duration,
    /// Messages of one partition that are handled together. After each assignment, this many are
    /// handled one by one, each try counted, in case one of them killed the last process.
    pub batch_max: usize,
    /// Messages handled at once, over all partitions. Keep it below the handlers' connections.
    pub concurrency_max: usize,
    /// Messages of one partition in memory; beyond it the partition is paused.
    pub queue_max: usize,
    /// Tries of a message that ended its process, or panicked, before it is parked.
    pub attempts_max: u32,
    /// The wait after the first failed try; it doubles with each.
    pub backoff_first: Duration,
    /// The longest wait between tries.
    pub backoff_max: Duration,
    /// How often offsets are committed. What was handled since comes again after a kill.
    pub commit_every: Duration,
    /// How long a revoked partition's messages may go on before they are aborted. Less than the
    /// session timeout.
    pub revoke_timeout: Duration,
    /// No progress for so long although there are messages: the client is built anew.
    pub stalled_after: Duration,
    /// How long an inbox row is kept; see [`check_retention`](crate::check_retention).
    pub keep: Duration,
}

impl ConsumerOptions {
    /// The defaults.
    pub fn new(
        brokers: impl Into<String>,
        group: impl Into<String>,
        topics: Vec<String>,
        instance_id: impl Into<String>,
    ) -> Self {
        Self {
            brokers: brokers.into(),
            group: group.into(),
            topics,
            instance_id: instance_id.into(),
            session_timeout: Duration::from_secs(8),
            batch_max: 32,
            concurrency_max: 16,
            queue_max: 256,
            attempts_max: 5,
            backoff_first: Duration::from_millis(50),
            backoff_max: Duration::from_secs(5),
            commit_every: Duration::from_millis(200),
            revoke_timeout: Duration::from_secs(4),
            stalled_after: Duration::from_mins(1),
            keep: Duration::from_hours(14 * 24),
        }
    }

    /// Every setting that a promise rests on. A test reads them back from librdkafka.
    pub(crate) fn client_config(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", &self.brokers)
            .set("group.id", &self.group)
            .set("group.instance.id", &self.instance_id)
            .set("client.id", &self.instance_id)
            // Offsets are ours to commit, after the effect: by default they would be stored before.
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            // Without an offset, or with one that is out of range since the topic was made anew: from
            // the beginning. Messages that come again cost a look into the inbox; a skipped one is lost.
            .set("auto.offset.reset", "earliest")
            .set(
                "session.timeout.ms",
                self.session_timeout.as_millis().to_string(),
            )
            .set(
                "heartbeat.interval.ms",
                (self.session_timeout / 4).as_millis().to_string(),
            )
            .set("max.poll.interval.ms", "300000")
            // When members come and go, partitions that stay where they are do not stop.
            .set("partition.assignment.strategy", "cooperative-sticky")
            .set("allow.auto.create.topics", "false")
            .set("topic.metadata.refresh.interval.ms", "5000")
            .set("fetch.wait.max.ms", "100")
            .set("fetch.error.backoff.ms", "200")
            .set("queued.max.messages.kbytes", "16384")
            .set("reconnect.backoff.max.ms", "1000")
            .set("socket.keepalive.enable", "true")
            .set_log_level(RDKafkaLogLevel::Warning);
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_consumer_runs_with_the_settings_that_the_promises_rest_on() {
        let options = ConsumerOptions::new("127.0.0.1:1", "orders", vec!["t".into()], "order-1");
        let native = options.client_config().create_native_config().unwrap();
        for (setting, value) in [
            ("enable.auto.commit", "false"),
            ("enable.auto.offset.store", "false"),
            ("auto.offset.reset", "smallest"), // librdkafka's older name for earliest
            ("group.instance.id", "order-1"),
            ("session.timeout.ms", "8000"),
            ("heartbeat.interval.ms", "2000"),
            ("max.poll.interval.ms", "300000"),
            ("partition.assignment.strategy", "cooperative-sticky"),
            ("topic.metadata.refresh.interval.ms", "5000"),
            ("allow.auto.create.topics", "false"),
            ("socket.keepalive.enable", "true"),
        ] {
            assert_eq!(native.get(setting).as_deref(), Ok(value), "{setting}");
        }
    }
}
