use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, timeout, timeout_at};
use tracing::Instrument;

use super::Shutdown;

/// For an aborted task to be dropped: abort only asks, the drop comes at its next await.
const ABORT_WITHIN: Duration = Duration::from_secs(1);

type BoxError = Box<dyn Error + Send + Sync>;

/// What a task may return: nothing, or an error worth ending the process for.
pub trait Outcome: Send + 'static {
    /// As a result.
    fn into_result(self) -> Result<(), BoxError>;
}

impl Outcome for () {
    fn into_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Into<BoxError> + Send + 'static> Outcome for Result<(), E> {
    fn into_result(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// Why the process ends other than as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Ended {
    /// A task that should run until shutdown ended by itself.
    #[error("task {task} ended by itself")]
    Early {
        /// Which one.
        task: &'static str,
    },
    /// A task failed.
    #[error("task {task} failed")]
    Failed {
        /// Which one.
        task: &'static str,
        /// Its error, or its panic.
        #[source]
        source: BoxError,
    },
    /// The grace period was over first.
    #[error("not finished within {grace:?}: {}", tasks.join(", "))]
    GraceOver {
        /// What shutdown was given.
        grace: Duration,
        /// Which tasks were aborted.
        tasks: Vec<&'static str>,
    },
}

impl Ended {
    /// A supervisor's restart may help.
    pub fn is_transient(&self) -> bool {
        true
    }
}

/// All long-running tasks of a process. One that ends before it is told to takes the process down:
/// half a service is worse than none.
#[derive(Debug)]
pub struct Tasks {
    shutdown: Shutdown,
    intake: Group,
    workers: Group,
}

impl Tasks {
    /// No tasks yet.
    pub fn new(shutdown: Shutdown) -> Self {
        Self {
            shutdown,
            intake: Group::default(),
            workers: Group::default(),
        }
    }

    /// Starts a task that brings work in; it must end when [`Shutdown::intake`] is cancelled.
    pub fn intake<T: Outcome>(
        &mut self,
        name: &'static str,
        task: impl Future<Output = T> + Send + 'static,
    ) {
        self.intake.spawn(name, task);
    }

    /// Starts a task that finishes work; it must end when [`Shutdown::workers`] is cancelled.
    pub fn spawn<T: Outcome>(
        &mut self,
        name: &'static str,
        task: impl Future<Output = T> + Send + 'static,
    ) {
        self.workers.spawn(name, task);
    }

    /// Waits for the shutdown, or for a task that ends too early, and leads through the phases.
    ///
    /// # Errors
    /// The first task that ended early or failed; else the tasks that outlived the grace period.
    pub async fn run(mut self) -> Result<(), Ended> {
        let begun = self.shutdown.begun();
        let early = tokio::select! {
            () = begun.cancelled() => None,
            ended = self.intake.next() => Some(ended),
            ended = self.workers.next() => Some(ended),
        };
        let mut result = match early {
            None => Ok(()),
            Some((task, Ok(()))) => Err(Ended::Early { task }),
            Some((task, Err(source))) => Err(Ended::Failed { task, source }),
        };
        if let Err(ended) = &result {
            tracing::error!(error = %ended, "shutting down");
        }
        self.shutdown.begin(); // also where a task began it by ending

        let drained = self.drain().await;
        if result.is_ok() {
            result = drained;
        }
        result
    }

    async fn drain(&mut self) -> Result<(), Ended> {
        let grace = self.shutdown.grace();
        let deadline = Instant::now() + grace;
        let mut failed = None;

        tokio::time::sleep(self.shutdown.lame_duck()).await;
        self.shutdown.intake().cancel();
        let in_time = timeout_at(deadline, async {
            self.intake.drain(&mut failed).await;
            crate::owned::finished().await;
            self.shutdown.workers().cancel();
            self.workers.drain(&mut failed).await;
        });
        if in_time.await.is_ok() {
            return failed.map_or(Ok(()), Err);
        }

        self.shutdown.workers().cancel();
        let mut tasks: Vec<_> = self
            .intake
            .running()
            .chain(self.workers.running())
            .collect();
        if tasks.is_empty() {
            tasks.push("owned work");
        }
        self.intake.abort().await;
        self.workers.abort().await;
        Err(Ended::GraceOver { grace, tasks })
    }
}

#[derive(Debug, Default)]
struct Group {
    set: JoinSet<Result<(), BoxError>>,
    names: HashMap<Id, &'static str>,
}

impl Group {
    fn spawn<T: Outcome>(
        &mut self,
        name: &'static str,
        task: impl Future<Output = T> + Send + 'static,
    ) {
        let task = async move { task.await.into_result() }.in_current_span();
        let id = self.set.spawn(task).id();
        self.names.insert(id, name);
    }

    /// The next task to end; never, if there is none.
    async fn next(&mut self) -> (&'static str, Result<(), BoxError>) {
        match self.set.join_next_with_id().await {
            Some(joined) => self.ended(joined),
            None => std::future::pending().await,
        }
    }

    async fn drain(&mut self, failed: &mut Option<Ended>) {
        while let Some(joined) = self.set.join_next_with_id().await {
            let (task, result) = self.ended(joined);
            match result {
                Ok(()) => tracing::debug!(task, "ended"),
                Err(source) => {
                    tracing::error!(task, error = %source, "failed while shutting down");
                    failed.get_or_insert(Ended::Failed { task, source });
                }
            }
        }
    }

    async fn abort(&mut self) {
        self.set.abort_all();
        let _ = timeout(ABORT_WITHIN, async {
            while self.set.join_next().await.is_some() {}
        })
        .await;
    }

    fn running(&self) -> impl Iterator<Item = &'static str> {
        self.names.values().copied()
    }

    fn ended(
        &mut self,
        joined: Result<(Id, Result<(), BoxError>), JoinError>,
    ) -> (&'static str, Result<(), BoxError>) {
        let (id, result) = match joined {
            Ok((id, result)) => (id, result),
            Err(error) => (error.id(), Err(error.into())),
        };
        (self.names.remove(&id).unwrap_or("unnamed"), result)
    }
}
