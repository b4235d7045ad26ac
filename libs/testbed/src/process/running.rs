use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::{Ready, log};

const PROBE_EVERY: Duration = Duration::from_millis(20);
const LOG_LINES_SHOWN: usize = 20;

/// What to run and how.
#[derive(Debug, Clone)]
pub struct ProcessOptions {
    /// What it is called in errors.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables on top of ours; later ones win.
    pub variables: Vec<(String, String)>,
    /// Both output streams go here, appended over restarts.
    pub log: PathBuf,
    /// How to tell that it can be used.
    pub ready: Ready,
}

/// A running program. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    options: ProcessOptions,
    child: Child,
}

impl Process {
    /// Starts the program; [`wait_ready`](Self::wait_ready) tells when it can be used.
    ///
    /// # Errors
    /// The program or its log cannot be opened.
    pub fn start(options: ProcessOptions) -> anyhow::Result<Self> {
        let child = spawn(&options)?;
        Ok(Self { options, child })
    }

    /// Waits until the ready probe succeeds, at most `within`.
    ///
    /// # Errors
    /// It ended, or the time is over; the error shows the end of its log.
    pub async fn wait_ready(&mut self, within: Duration) -> anyhow::Result<()> {
        let deadline = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait()? {
                bail!(self.with_log(&format!("{} ended ({status})", self.options.name)));
            }
            let Err(why) = self.options.ready.probe().await else {
                return Ok(());
            };
            if Instant::now() >= deadline {
                let name = &self.options.name;
                bail!(self.with_log(&format!("{name} is not ready after {within:?}: {why}")));
            }
            sleep(PROBE_EVERY).await;
        }
    }

    /// kill -9, and waits until it is gone.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub async fn kill(&mut self) -> anyhow::Result<()> {
        self.child
            .kill()
            .await
            .with_context(|| format!("cannot kill {}", self.options.name))
    }

    /// SIGTERM, and waits until it has ended by itself; after `within` it is killed.
    ///
    /// # Errors
    /// It had to be killed.
    pub async fn terminate(&mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        if let Some(pid) = self.pid() {
            // Gone already: waiting tells how it ended.
            let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGTERM);
        }
        if let Ok(status) = timeout(within, self.child.wait()).await {
            return Ok(status?);
        }
        self.kill().await?;
        let name = &self.options.name;
        bail!(self.with_log(&format!("{name} did not end within {within:?} of SIGTERM")))
    }

    /// Starts it again with the same options. What still runs is killed first.
    ///
    /// # Errors
    /// As for [`kill`](Self::kill) and [`start`](Self::start).
    pub async fn restart(&mut self) -> anyhow::Result<()> {
        if self.is_running() {
            self.kill().await?;
        }
        self.child = spawn(&self.options)?;
        Ok(())
    }

    /// Changes a variable for the next start.
    pub fn set_variable(&mut self, name: &str, value: &str) {
        self.remove_variable(name);
        self.options
            .variables
            .push((name.to_owned(), value.to_owned()));
    }

    /// Takes a variable away for the next start.
    pub fn remove_variable(&mut self, name: &str) {
        self.options.variables.retain(|(known, _)| known != name);
    }

    /// Whether it runs; false also right after it has aborted.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until it ends by itself, for example at a crash point.
    ///
    /// # Errors
    /// It still runs after `within`.
    pub async fn wait_ended(&mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        match timeout(within, self.child.wait()).await {
            Ok(status) => Ok(status?),
            Err(_) => bail!("{} still runs after {within:?}", self.options.name),
        }
    }

    /// Its process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Where its output goes.
    pub fn log(&self) -> &Path {
        &self.options.log
    }

    fn with_log(&self, what: &str) -> String {
        let path = self.options.log.display();
        let tail = log::tail(&self.options.log, LOG_LINES_SHOWN);
        format!("{what}; the end of {path}:\n{tail}")
    }
}

fn spawn(options: &ProcessOptions) -> anyhow::Result<Child> {
    let output = log::open(&options.log)?;
    Command::new(&options.program)
        .args(&options.arguments)
        .envs(options.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        // Of its own, so that Ctrl-C ends whoever started it first, and that one ends this in order.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("cannot start {}", options.program.display()))
}
