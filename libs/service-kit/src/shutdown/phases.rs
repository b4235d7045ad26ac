use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// For load balancers to see `NOT_SERVING` before connections are refused.
const LAME_DUCK_MAX: Duration = Duration::from_millis(500);

/// The end of the process, as everyone in it sees it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shutdown {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    grace: Duration,
    begun: CancellationToken,
    intake: CancellationToken,
    workers: CancellationToken,
}

impl Shutdown {
    /// A shutdown that may take `grace` in all, begun by [`begin`](Self::begin).
    pub fn new(grace: Duration) -> Self {
        let inner = Inner {
            grace,
            begun: CancellationToken::new(),
            intake: CancellationToken::new(),
            workers: CancellationToken::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// As [`new`](Self::new), begun by SIGTERM or SIGINT. A second signal ends the process at once.
    ///
    /// # Errors
    /// The signals cannot be listened to.
    pub fn on_signals(grace: Duration) -> std::io::Result<Self> {
        let shutdown = Self::new(grace);
        listen(shutdown.clone())?;
        Ok(shutdown)
    }

    /// Begins the shutdown; [`Tasks::run`](super::Tasks::run) leads it through its phases.
    pub fn begin(&self) {
        self.inner.begun.cancel();
    }

    /// Cancelled first: say `NOT_SERVING`, still answer.
    pub fn begun(&self) -> CancellationToken {
        self.inner.begun.clone()
    }

    /// Cancelled second: take nothing new, finish what is at work.
    pub fn intake(&self) -> CancellationToken {
        self.inner.intake.clone()
    }

    /// Cancelled last, when nothing comes in any more: finish and end.
    pub fn workers(&self) -> CancellationToken {
        self.inner.workers.clone()
    }

    pub(super) fn grace(&self) -> Duration {
        self.inner.grace
    }

    pub(super) fn lame_duck(&self) -> Duration {
        LAME_DUCK_MAX.min(self.inner.grace / 10)
    }
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "lives as long as the process")]
fn listen(shutdown: Shutdown) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    const EXIT_CODE: i32 = 130;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => tracing::info!("SIGTERM: shutting down"),
            _ = interrupt.recv() => tracing::info!("SIGINT: shutting down"),
        }
        shutdown.begin();
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::warn!("a second signal: ending at once");
        std::process::exit(EXIT_CODE);
    });
    Ok(())
}
