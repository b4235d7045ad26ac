//! The polling thread: feeds the partitions' tasks, commits their offsets, watches for stalls.
//!
//! It has its own thread because rebalances are served inside of `poll` and may have to wait for the
//! tasks: on a thread of the runtime that wait could be for itself.

use std::{
    collections::HashMap,
    sync::mpsc,
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig, Message, TopicPartitionList,
    config::FromClientConfigAndContext,
    consumer::{BaseConsumer, CommitMode, Consumer as _},
    error::{KafkaError, RDKafkaErrorCode},
    message::{BorrowedMessage, Headers},
};
use tokio::sync::{mpsc::error::TrySendError, watch};
use tokio_util::sync::CancellationToken;

use super::{
    ConsumerOptions,
    assignment::{Context, NONE, TopicPartition},
    run::Health,
    watchdog::{Observed, Watchdog},
};
use crate::{Envelope, metrics::Metrics};

const POLL: Duration = Duration::from_millis(100);
/// While a full queue is waited for.
const POLL_FULL: Duration = Duration::from_millis(5);
const WATCH_EVERY: Duration = Duration::from_secs(5);
const BROKER_TIMEOUT: Duration = Duration::from_secs(1);
const REBUILD_PAUSE: Duration = Duration::from_secs(1);
/// Closing a consumer can hang in the C library: nothing waits for it longer than this.
const CLOSE_BOUND: Duration = Duration::from_secs(5);

pub(crate) struct Poller {
    pub(crate) options: ConsumerOptions,
    pub(crate) config: ClientConfig,
    pub(crate) shutdown: CancellationToken,
    pub(crate) health: watch::Sender<Health>,
    pub(crate) metrics: Metrics,
    pub(crate) context: Box<dyn Fn() -> Context + Send>,
}

/// Why one client's life ended.
enum End {
    Shutdown,
    Rebuild(String),
}

impl Poller {
    /// Polls until the shutdown, with as many clients, one after the other, as it takes.
    pub(crate) fn run(self) {
        while !self.shutdown.is_cancelled() {
            let why = match self.one_client() {
                End::Shutdown => break,
                End::Rebuild(why) => why,
            };
            tracing::warn!(
                error = why,
                "the Kafka consumer is thrown away and built anew"
            );
            self.metrics.rebuilt();
            self.health.send_replace(Health::NotReady(why));
            let until = Instant::now() + REBUILD_PAUSE;
            while Instant::now() < until && !self.shutdown.is_cancelled() {
                std::thread::sleep(POLL);
            }
        }
    }

    fn one_client(&self) -> End {
        let context = (self.context)();
        let consumer = match BaseConsumer::from_config_and_context(&self.config, context) {
            Ok(consumer) => consumer,
            Err(error) => return End::Rebuild(format!("it cannot be built: {error}")),
        };
        let topics: Vec<&str> = self.options.topics.iter().map(String::as_str).collect();
        if let Err(error) = consumer.subscribe(&topics) {
            return End::Rebuild(format!("it cannot subscribe: {error}"));
        }
        let end = self.poll_until_end(&consumer);
        let offsets = consumer.context().stop(None);
        if offsets.count() > 0
            && let Err(error) = consumer.commit(&offsets, CommitMode::Sync)
        {
            tracing::debug!(%error, "the last offsets were not committed");
        }
        close(consumer);
        end
    }

    fn poll_until_end(&self, consumer: &BaseConsumer<Context>) -> End {
        let mut commit_at = Instant::now();
        let mut watch_at = Instant::now() + WATCH_EVERY;
        let mut watchdog = Watchdog::default();
        while !self.shutdown.is_cancelled() {
            if consumer
                .context()
                .assigned()
                .values()
                .any(|assigned| assigned.queue.is_closed())
            {
                return End::Rebuild("a partition's task died".to_owned());
            }
            let full = self.feed_overflow(consumer);
            let now = Instant::now();
            if now >= commit_at {
                commit_at = now + self.options.commit_every;
                commit(consumer);
            }
            if now >= watch_at {
                watch_at = now + WATCH_EVERY;
                if let Some(end) = self.watch(consumer, &mut watchdog) {
                    return end;
                }
            }
            let longest = if full {
                POLL_FULL
            } else {
                POLL.min(self.options.commit_every)
            };
            match consumer.poll(longest) {
                Some(Ok(message)) => take(consumer, &message),
                Some(Err(KafkaError::MessageConsumptionFatal(code))) => {
                    return End::Rebuild(format!("it is broken: {code}"));
                }
                Some(Err(error)) => self.note(&error),
                None => {}
            }
        }
        End::Shutdown
    }

    /// Everything that is not fatal heals by itself: a topic that is gone is looked for until it is
    /// there again, an offset that is out of range becomes the earliest.
    fn note(&self, error: &KafkaError) {
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::AllBrokersDown) {
            self.health
                .send_replace(Health::NotReady("no broker can be reached".to_owned()));
            tracing::warn!(%error, "no broker can be reached");
        } else {
            tracing::debug!(%error, "the Kafka consumer reports");
        }
    }

    /// Moves what waits into queues that have room again. Whether some still waits.
    fn feed_overflow(&self, consumer: &BaseConsumer<Context>) -> bool {
        let mut resumed = TopicPartitionList::new();
        let mut full = false;
        for ((topic, partition), assigned) in consumer.context().assigned().iter_mut() {
            if assigned.overflow.is_empty() {
                continue;
            }
            // Half empty: pausing and resuming throws away what the client has fetched ahead.
            if assigned.queue.capacity() < self.options.queue_max / 2 {
                full = true;
                continue;
            }
            while let Some(envelope) = assigned.overflow.pop_front() {
                if let Err(error) = assigned.queue.try_send(envelope) {
                    assigned.overflow.push_front(unsent(error));
                    break;
                }
            }
            if assigned.overflow.is_empty() {
                resumed.add_partition(topic, *partition);
            } else {
                full = true;
            }
        }
        if resumed.count() > 0
            && let Err(error) = consumer.resume(&resumed)
        {
            tracing::warn!(%error, "partitions could not be resumed");
        }
        full
    }

    /// Asks the broker where the partitions end. If it does not answer, that is no stall of ours.
    fn watch(&self, consumer: &BaseConsumer<Context>, watchdog: &mut Watchdog) -> Option<End> {
        let read_to: Vec<(TopicPartition, i64)> = consumer
            .context()
            .assigned()
            .iter()
            .filter(|(_, assigned)| assigned.overflow.is_empty())
            .map(|(partition, assigned)| (partition.clone(), assigned.polled))
            .collect();
        let mut observed = HashMap::new();
        for ((topic, partition), polled) in read_to {
            match consumer.fetch_watermarks(&topic, partition, BROKER_TIMEOUT) {
                Ok((start, end)) => {
                    let read_to = if polled == NONE {
                        committed(consumer, &topic, partition).unwrap_or(start)
                    } else {
                        polled
                    };
                    observed.insert((topic, partition), Observed { read_to, end });
                }
                Err(error) => {
                    tracing::debug!(%error, "the broker does not tell where a partition ends");
                    return None;
                }
            }
        }
        self.metrics.lag(
            observed
                .values()
                .map(|seen| (seen.end - seen.read_to).max(0))
                .sum(),
        );
        if !observed.is_empty() {
            self.health.send_if_modified(|health| {
                std::mem::replace(health, Health::Ready) != Health::Ready
            });
        }
        let (topic, partition) =
            watchdog.stalled(Instant::now(), self.options.stalled_after, &observed)?;
        Some(End::Rebuild(format!(
            "{topic}/{partition} has messages and does not deliver them"
        )))
    }
}

/// Hands a message to its partition's task; if that has enough, pauses the partition.
fn take(consumer: &BaseConsumer<Context>, message: &BorrowedMessage<'_>) {
    let partition = (message.topic().to_owned(), message.partition());
    let mut assigned = consumer.context().assigned();
    let Some(to) = assigned.get_mut(&partition) else {
        return; // revoked since: its next owner reads it
    };
    to.polled = message.offset() + 1;
    let envelope = envelope(message);
    let overflow = if to.overflow.is_empty() {
        match to.queue.try_send(envelope) {
            Ok(()) => return,
            Err(error) => unsent(error),
        }
    } else {
        envelope
    };
    to.overflow.push_back(overflow);
    if to.overflow.len() == 1 {
        let mut list = TopicPartitionList::new();
        list.add_partition(&partition.0, partition.1);
        if let Err(error) = consumer.pause(&list) {
            tracing::warn!(%error, "a full partition could not be paused");
        }
    }
}

fn unsent(error: TrySendError<Envelope>) -> Envelope {
    match error {
        TrySendError::Full(envelope) | TrySendError::Closed(envelope) => envelope,
    }
}

fn commit(consumer: &BaseConsumer<Context>) {
    let offsets = consumer.context().to_commit();
    if offsets.count() > 0
        && let Err(error) = consumer.commit(&offsets, CommitMode::Async)
    {
        tracing::debug!(%error, "offsets could not be committed; the next commit has them");
    }
}

fn committed(consumer: &BaseConsumer<Context>, topic: &str, partition: i32) -> Option<i64> {
    let mut list = TopicPartitionList::new();
    list.add_partition(topic, partition);
    let offsets = consumer.committed_offsets(list, BROKER_TIMEOUT).ok()?;
    let offset = offsets
        .find_partition(topic, partition)?
        .offset()
        .to_raw()?;
    (offset >= 0).then_some(offset)
}

fn envelope(message: &BorrowedMessage<'_>) -> Envelope {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers = message
        .headers()
        .map(|headers| {
            headers
                .iter()
                .map(|header| {
                    (
                        header.key.to_owned(),
                        header.value.map(text).unwrap_or_default(),
                    )
                })
                .collect()
        })
        .unwrap_or_default();
    Envelope {
        topic: message.topic().to_owned(),
        partition: message.partition(),
        offset: message.offset(),
        key: message.key().map(text),
        payload: message.payload().unwrap_or_default().to_vec(),
        headers,
    }
}

fn close(consumer: BaseConsumer<Context>) {
    let (closed, wait) = mpsc::channel();
    let closer = std::thread::Builder::new()
        .name("inbox-close".to_owned())
        .spawn(move || {
            drop(consumer);
            let _ = closed.send(());
        });
    if closer.is_err() || wait.recv_timeout(CLOSE_BOUND).is_err() {
        tracing::warn!("the Kafka consumer does not close; it is left behind");
    }
}
