//! The publisher for Kafka.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rdkafka::{
    ClientConfig, ClientContext,
    config::{FromClientConfigAndContext, RDKafkaLogLevel},
    error::{KafkaError, RDKafkaErrorCode},
    message::{Header, OwnedHeaders},
    producer::{FutureProducer, FutureRecord, Producer, PurgeConfig},
    util::get_rdkafka_version,
};

use crate::{Error, PublishError, Publisher, Record};

/// Before 1.9 librdkafka could take an acknowledged record for a duplicate and drop it.
const LIBRARY_MIN: i32 = 0x0109_0000;

/// Publishes to Kafka with an idempotent producer that it can throw away and build anew.
pub struct KafkaPublisher {
    config: ClientConfig,
    delivery_timeout: Duration,
    producer: Mutex<FutureProducer<Log>>,
}

impl KafkaPublisher {
    /// Builds the producer; the brokers need not be up. `delivery_timeout`: how long a record may
    /// wait for its acknowledgement, less than half of the relay's lease.
    pub fn new(brokers: &str, client_id: &str, delivery_timeout: Duration) -> Result<Self, Error> {
        let (number, version) = get_rdkafka_version();
        if number < LIBRARY_MIN {
            return Err(Error::LibraryTooOld { version });
        }
        let config = producer_config(brokers, client_id, delivery_timeout);
        let producer = build(&config).map_err(Error::Producer)?;
        Ok(Self {
            config,
            delivery_timeout,
            producer: Mutex::new(producer),
        })
    }

    fn producer(&self) -> FutureProducer<Log> {
        self.producer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Every setting that a promise rests on. A test reads them back from librdkafka.
fn producer_config(brokers: &str, client_id: &str, delivery_timeout: Duration) -> ClientConfig {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", brokers)
        .set("client.id", client_id)
        // A retry inside the client must not write a record twice, nor overtake another.
        .set("enable.idempotence", "true")
        .set("acks", "all")
        .set(
            "message.timeout.ms",
            delivery_timeout.as_millis().to_string(),
        )
        .set(
            "request.timeout.ms",
            (delivery_timeout / 2).as_millis().max(1).to_string(),
        )
        // The relay batches by itself; a record that waits for company is only late.
        .set("linger.ms", "0")
        // The partitioner of the Java clients, so that all writers of a topic agree.
        .set("partitioner", "murmur2_random")
        .set("queue.buffering.max.kbytes", "65536")
        // A topic may be deleted and made anew under us.
        .set("topic.metadata.refresh.interval.ms", "5000")
        .set("topic.metadata.propagation.max.ms", "5000")
        .set("reconnect.backoff.max.ms", "1000")
        .set("socket.keepalive.enable", "true")
        .set_log_level(RDKafkaLogLevel::Warning);
    config
}

fn build(config: &ClientConfig) -> Result<FutureProducer<Log>, KafkaError> {
    FutureProducer::from_config_and_context(config, Log)
}

impl Publisher for KafkaPublisher {
    async fn publish(&self, record: Record) -> Result<(), PublishError> {
        let producer = self.producer();
        let headers = record.headers.iter().fold(
            OwnedHeaders::new_with_capacity(record.headers.len()),
            |headers, (key, value)| {
                headers.insert(Header {
                    key,
                    value: Some(value),
                })
            },
        );
        let queued = producer.send_result(
            FutureRecord::to(&record.topic)
                .key(&record.key)
                .payload(&record.payload)
                .headers(headers),
        );
        let report = match queued {
            Ok(report) => report.await,
            Err((error, _)) => return Err(classify(&producer, &error)),
        };
        match report {
            Ok(Ok(_)) => Ok(()),
            Ok(Err((error, _))) => Err(classify(&producer, &error)),
            Err(_) => Err(PublishError::Unavailable(
                "the producer was closed".to_owned(),
            )),
        }
    }

    async fn rebuild(&self) -> Result<(), PublishError> {
        let fresh = build(&self.config).map_err(|error| PublishError::Fatal(error.to_string()))?;
        let mut current = self.producer.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *current, fresh);
        drop(current);
        old.purge(PurgeConfig::default().queue().inflight());
        // Closing waits for the client's threads: not on ours. If it hangs, nothing waits for it.
        drop(tokio::task::spawn_blocking(move || drop(old)));
        Ok(())
    }

    fn delivery_timeout(&self) -> Duration {
        self.delivery_timeout
    }
}

impl std::fmt::Debug for KafkaPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KafkaPublisher")
            .field("brokers", &self.config.get("bootstrap.servers"))
            .field("delivery_timeout", &self.delivery_timeout)
            .finish_non_exhaustive()
    }
}

/// A closed list tells what is the record's own fault; everything else is the broker's.
fn classify(producer: &FutureProducer<Log>, error: &KafkaError) -> PublishError {
    if let Some((_, why)) = producer.client().fatal_error() {
        return PublishError::Fatal(why);
    }
    match error.rdkafka_error_code() {
        Some(RDKafkaErrorCode::Fatal) => PublishError::Fatal(error.to_string()),
        Some(
            RDKafkaErrorCode::MessageSizeTooLarge
            | RDKafkaErrorCode::MessageBatchTooLarge
            | RDKafkaErrorCode::InvalidMessage
            | RDKafkaErrorCode::InvalidMessageSize
            | RDKafkaErrorCode::InvalidRecord
            | RDKafkaErrorCode::InvalidTimestamp
            | RDKafkaErrorCode::InvalidTopic
            | RDKafkaErrorCode::PolicyViolation,
        ) => PublishError::Refused(error.to_string()),
        _ => PublishError::Unavailable(error.to_string()),
    }
}

/// Carries librdkafka's log into ours.
#[derive(Debug, Clone, Copy)]
struct Log;

impl ClientContext for Log {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        match level {
            RDKafkaLogLevel::Info | RDKafkaLogLevel::Notice | RDKafkaLogLevel::Debug => {
                tracing::debug!(facility, "kafka producer: {message}");
            }
            _ => tracing::warn!(facility, "kafka producer: {message}"),
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::warn!(%error, "kafka producer: {reason}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_producer_runs_with_the_settings_that_the_promises_rest_on() {
        let config = producer_config("127.0.0.1:1", "test", Duration::from_secs(2));
        let native = config
            .create_native_config()
            .expect("librdkafka takes every setting");
        for (setting, value) in [
            ("enable.idempotence", "true"),
            ("acks", "-1"),
            ("message.timeout.ms", "2000"),
            ("linger.ms", "0"),
            ("partitioner", "murmur2_random"),
            ("topic.metadata.refresh.interval.ms", "5000"),
            ("socket.keepalive.enable", "true"),
        ] {
            assert_eq!(native.get(setting).as_deref(), Ok(value), "{setting}");
        }
    }
}
