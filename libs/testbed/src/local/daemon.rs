use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::process::CommandExt;

use crate::process::log;

const PROBE_EVERY: Duration = Duration::from_millis(20);
const LOOK_EVERY: Duration = Duration::from_millis(5);
const END_WITHIN: Duration = Duration::from_secs(10);
const LOG_LINES_SHOWN: usize = 20;

/// A server in a process group of its own; asked to end when dropped, and waited for.
#[derive(Debug)]
pub(super) struct Daemon {
    name: &'static str,
    child: Child,
    log: PathBuf,
    ends_by: Signal,
}

impl Daemon {
    pub(super) fn start(
        name: &'static str,
        mut command: Command,
        log: PathBuf,
        ends_by: Signal,
    ) -> anyhow::Result<Self> {
        let output = log::open(&log)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        Ok(Self {
            name,
            child,
            log,
            ends_by,
        })
    }

    /// Waits until `probe` succeeds.
    pub(super) async fn wait_ready<E: std::fmt::Display>(
        &mut self,
        within: Duration,
        probe: impl AsyncFn() -> Result<(), E>,
    ) -> anyhow::Result<()> {
        let (name, deadline) = (self.name, Instant::now() + within);
        loop {
            if let Some(status) = self.child.try_wait()? {
                bail!("{name} ended ({status}){}", self.log_end());
            }
            let Err(why) = probe().await else {
                return Ok(());
            };
            if Instant::now() >= deadline {
                bail!(
                    "{name} is not ready after {within:?}: {why}{}",
                    self.log_end()
                );
            }
            tokio::time::sleep(PROBE_EVERY).await;
        }
    }

    fn log_end(&self) -> String {
        end_of(&self.log)
    }
}

/// For an error: the log goes with its folder, so what matters of it is shown.
pub(super) fn end_of(path: &Path) -> String {
    format!(
        "; the end of its log:\n{}",
        log::tail(path, LOG_LINES_SHOWN)
    )
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        if matches!(self.child.try_wait(), Ok(None)) {
            // Not reaped yet, so the id is still its own.
            let _ = kill(pid, self.ends_by);
        }
        let deadline = Instant::now() + END_WITHIN;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}
