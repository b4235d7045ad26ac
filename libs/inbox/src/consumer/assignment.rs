//! Which partitions are ours, and the task that handles each.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use rdkafka::{
    ClientContext, Offset, TopicPartitionList,
    config::RDKafkaLogLevel,
    consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance},
    error::{KafkaError, KafkaResult, RDKafkaErrorCode},
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, watch},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::run::Health;
use crate::Envelope;

pub(crate) type TopicPartition = (String, i32);

/// No offset yet.
pub(crate) const NONE: i64 = -1;

/// Starts the task of a partition: its messages, its progress, its stop signal.
pub(crate) type StartWorker = Box<
    dyn Fn(mpsc::Receiver<Envelope>, Arc<AtomicI64>, CancellationToken) -> JoinHandle<()>
        + Send
        + Sync,
>;

/// One partition of ours, as the polling thread sees it.
pub(crate) struct Assigned {
    pub(crate) queue: mpsc::Sender<Envelope>,
    /// What did not fit into the queue; the partition is paused while there is any.
    pub(crate) overflow: VecDeque<Envelope>,
    /// The offset after the last message that was polled.
    pub(crate) polled: i64,
    /// The offset after the last message of which all before it are handled, too.
    handled: Arc<AtomicI64>,
    committed: i64,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// The client's context: rebalances arrive here, inside of `poll`, on the polling thread.
pub(crate) struct Context {
    assigned: Mutex<HashMap<TopicPartition, Assigned>>,
    start_worker: StartWorker,
    runtime: Handle,
    revoke_timeout: Duration,
    queue_max: usize,
    commit_failed: AtomicBool,
    health: watch::Sender<Health>,
}

impl Context {
    pub(crate) fn new(
        start_worker: StartWorker,
        runtime: Handle,
        revoke_timeout: Duration,
        queue_max: usize,
        health: watch::Sender<Health>,
    ) -> Self {
        Self {
            assigned: Mutex::default(),
            start_worker,
            runtime,
            revoke_timeout,
            queue_max: queue_max.max(1),
            commit_failed: AtomicBool::new(false),
            health,
        }
    }

    /// Uncontended: only the polling thread takes it, and never across a poll.
    pub(crate) fn assigned(&self) -> MutexGuard<'_, HashMap<TopicPartition, Assigned>> {
        self.assigned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, partition: TopicPartition) {
        let (queue, messages) = mpsc::channel(self.queue_max);
        let (handled, stop) = (Arc::new(AtomicI64::new(NONE)), CancellationToken::new());
        let task = (self.start_worker)(messages, Arc::clone(&handled), stop.clone());
        self.assigned().insert(
            partition,
            Assigned {
                queue,
                overflow: VecDeque::new(),
                polled: NONE,
                handled,
                committed: NONE,
                stop,
                task,
            },
        );
    }

    /// Lets the tasks of these partitions end (all of them if `which` is none), aborts those that
    /// take too long, and answers with the offsets to commit. Nothing of them runs any more when it
    /// returns: only then may the assignment move.
    pub(crate) fn stop(&self, which: Option<&TopicPartitionList>) -> TopicPartitionList {
        let mut assigned = self.assigned();
        let stopping: Vec<(TopicPartition, Assigned)> = match which {
            None => assigned.drain().collect(),
            Some(list) => list
                .elements()
                .iter()
                .map(|element| (element.topic().to_owned(), element.partition()))
                .filter_map(|partition| assigned.remove_entry(&partition))
                .collect(),
        };
        drop(assigned);
        for (_, partition) in &stopping {
            partition.stop.cancel();
        }
        let mut offsets = TopicPartitionList::new();
        // A thread of its own, not the runtime's: it may wait.
        self.runtime.block_on(async {
            let end = tokio::time::Instant::now() + self.revoke_timeout;
            for ((topic, partition), mut stopped) in stopping {
                if tokio::time::timeout_at(end, &mut stopped.task)
                    .await
                    .is_err()
                {
                    tracing::warn!(
                        topic,
                        partition,
                        "a message is aborted: its partition moves"
                    );
                    stopped.task.abort();
                    // An aborted task ends at its next await, not at the abort: wait for it.
                    drop(timeout(self.revoke_timeout, &mut stopped.task).await);
                }
                let handled = stopped.handled.load(Ordering::Acquire);
                if handled != NONE && handled != stopped.committed {
                    add(&mut offsets, &topic, partition, handled);
                }
            }
        });
        offsets
    }

    /// The offsets that moved since they were last asked for.
    pub(crate) fn to_commit(&self) -> TopicPartitionList {
        let again = self.commit_failed.swap(false, Ordering::Relaxed);
        let mut offsets = TopicPartitionList::new();
        for ((topic, partition), assigned) in self.assigned().iter_mut() {
            let handled = assigned.handled.load(Ordering::Acquire);
            // Not "greater": in a topic that was made anew, offsets begin again.
            if handled != NONE && (again || handled != assigned.committed) {
                assigned.committed = handled;
                add(&mut offsets, topic, *partition, handled);
            }
        }
        offsets
    }
}

pub(crate) fn add(list: &mut TopicPartitionList, topic: &str, partition: i32, offset: i64) {
    if let Err(error) = list.add_partition_offset(topic, partition, Offset::Offset(offset)) {
        tracing::warn!(topic, partition, offset, %error, "an offset could not be listed");
    }
}

impl ConsumerContext for Context {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(partitions) = rebalance {
            let offsets = self.stop(Some(partitions));
            // A lost assignment may have a new owner: committing behind its back would set it back.
            if offsets.count() > 0
                && !consumer.assignment_lost()
                && let Err(error) = consumer.commit(&offsets, CommitMode::Sync)
            {
                tracing::debug!(%error, "offsets of revoked partitions were not committed");
            }
        }
    }

    fn post_rebalance(&self, _consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        match rebalance {
            Rebalance::Assign(partitions) => {
                for element in partitions.elements() {
                    self.start((element.topic().to_owned(), element.partition()));
                }
                self.health.send_replace(Health::Ready);
            }
            Rebalance::Revoke(_) => {}
            Rebalance::Error(error) => tracing::warn!(%error, "the group could not be rebalanced"),
        }
        tracing::info!(
            partitions = self.assigned().len(),
            "the inbox's partitions changed"
        );
    }

    fn commit_callback(&self, result: KafkaResult<()>, _offsets: &TopicPartitionList) {
        match result {
            Ok(()) | Err(KafkaError::ConsumerCommit(RDKafkaErrorCode::NoOffset)) => {}
            Err(error) => {
                tracing::debug!(%error, "offsets were not committed; they are committed again");
                self.commit_failed.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl ClientContext for Context {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        match level {
            RDKafkaLogLevel::Info | RDKafkaLogLevel::Notice | RDKafkaLogLevel::Debug => {
                tracing::debug!(facility, "kafka consumer: {message}");
            }
            _ => tracing::warn!(facility, "kafka consumer: {message}"),
        }
    }
}
