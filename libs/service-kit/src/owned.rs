use std::sync::LazyLock;

use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// All owned work of this process; shutdown waits for it.
static WORK: LazyLock<TaskTracker> = LazyLock::new(TaskTracker::new);

/// The work ended without a result: it panicked, or the process is ending.
#[derive(Debug, thiserror::Error)]
#[error("the work was aborted")]
#[non_exhaustive]
pub struct Aborted(#[source] tokio::task::JoinError);

impl Aborted {
    /// The work may have been half done; asking again is the way to find out.
    pub fn is_transient(&self) -> bool {
        true
    }
}

/// Runs `work` to its end in a task of its own, whatever becomes of the caller.
///
/// tonic drops a handler's future when the deadline passes or the client goes away, possibly between
/// COMMIT being sent and its answer. A dropped `begin` even leaves a transaction open on a pooled
/// connection. So every transaction of an RPC runs in here and the handler only awaits it.
///
/// # Errors
/// [`Aborted`] if `work` panics.
pub async fn owned<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Aborted> {
    WORK.spawn(work.in_current_span()).await.map_err(Aborted)
}

/// Waits until no owned work is left.
pub(crate) async fn finished() {
    WORK.close(); // lets wait() end; work that still comes is run and waited for all the same
    WORK.wait().await;
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::{finished, owned};

    #[tokio::test]
    async fn a_dropped_caller_does_not_cancel_the_work() {
        let (go, wait) = oneshot::channel::<()>();
        let (done, result) = oneshot::channel::<&str>();
        let call = owned(async move {
            wait.await.unwrap();
            done.send("committed").unwrap();
        });
        let dropped = tokio::time::timeout(Duration::from_millis(1), call).await;
        assert!(dropped.is_err());

        go.send(()).unwrap();
        assert_eq!(result.await.unwrap(), "committed");
        finished().await;
    }

    #[tokio::test]
    async fn a_panic_is_told() {
        let result = owned(async { panic!("on purpose") }).await;
        assert!(result.unwrap_err().is_transient());
    }
}
