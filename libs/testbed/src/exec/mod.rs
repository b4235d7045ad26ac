//! `testbed exec -- CMD…`: runs a command with backends, and ends what it started.

mod child;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::backends::{Backends, Step};

/// Which signals end us, each with its number.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

/// Starts what is not given, runs `command` with both addresses in its environment, and returns its
/// exit code; 128 + n where signal n ended it, as shells do.
///
/// SIGINT, SIGTERM and SIGHUP are passed on to the command, and whatever was started is ended all
/// the same.
///
/// # Errors
/// A backend does not start, or the command cannot be started.
pub async fn run(command: &[OsString]) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    let backends = tokio::select! {
        backends = Backends::start(|step| say(&step)) => backends?,
        // Dropping the start ends what it had begun.
        signal = signals.next() => return Ok(child::code_of_signal(signal)),
    };
    child::run(command, &backends, &mut signals).await
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> nix::sys::signal::Signal {
        use nix::sys::signal::Signal;
        tokio::select! {
            _ = self.interrupt.recv() => Signal::SIGINT,
            _ = self.terminate.recv() => Signal::SIGTERM,
            _ = self.hangup.recv() => Signal::SIGHUP,
        }
    }
}

/// On stderr: stdout is the command's.
fn say(step: &Step<'_>) {
    let line = match step {
        Step::Given(name) => format!("{name} is given"),
        Step::Fetching(name) => format!("{name} is fetched and started (44 MB, once)"),
        Step::Starting(name) => format!("{name} is started"),
        Step::Ready(name, took) => format!("{name} is ready ({:.1} s)", took.as_secs_f64()),
    };
    // A closed stderr is no reason to stop.
    let _ = writeln!(std::io::stderr(), "testbed: {line}");
}
