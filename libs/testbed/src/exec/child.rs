use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use anyhow::Context;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::Signals;
use crate::backends::Backends;
use crate::{kafka, postgres};

/// For the command to end after a signal; longer than the grace of the services it may run.
const END_WITHIN: Duration = Duration::from_secs(30);
const SIGNALLED: u8 = 128;

pub(super) async fn run(
    command: &[OsString],
    backends: &Backends,
    signals: &mut Signals,
) -> anyhow::Result<ExitCode> {
    let mut command = Running::start(command, backends)?;
    let signal = tokio::select! {
        status = command.child.wait() => return Ok(code_of(status?)),
        signal = signals.next() => signal,
    };
    command.pass_on(signal);
    let ended = tokio::select! {
        ended = timeout(END_WITHIN, command.child.wait()) => ended.ok(),
        _again = signals.next() => None,
    };
    if let Some(status) = ended {
        return Ok(code_of(status?));
    }
    command.kill();
    command.child.wait().await?;
    Ok(code_of_signal(signal))
}

struct Running {
    child: Child,
    pid: Pid,
    /// The terminal's keys reach our process group, and with it the command; so it stays in our
    /// group, or it could not read from the terminal either. Elsewhere it has a group of its own,
    /// so that a signal reaches all of it: `make` passes on SIGTERM, but not SIGINT.
    on_terminal: bool,
}

impl Running {
    fn start(command: &[OsString], backends: &Backends) -> anyhow::Result<Self> {
        let (program, arguments) = command.split_first().context("no command is given")?;
        let on_terminal = std::io::stdin().is_terminal();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env(postgres::SERVER_VARIABLE, backends.postgres_url())
            .env(kafka::BROKERS_VARIABLE, backends.kafka_brokers())
            .kill_on_drop(true);
        if !on_terminal {
            command.process_group(0);
        }
        let shown = program.to_string_lossy();
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {shown}"))?;
        let pid = child.id().context("the command ended at once")?;
        Ok(Self {
            child,
            pid: Pid::from_raw(pid.cast_signed()),
            on_terminal,
        })
    }

    fn pass_on(&self, signal: Signal) {
        // It may be gone already: then waiting tells.
        let _ = match (self.on_terminal, signal) {
            (false, _) => killpg(self.pid, signal),
            (true, Signal::SIGINT) => Ok(()),
            (true, _) => kill(self.pid, signal),
        };
    }

    fn kill(&self) {
        let _ = if self.on_terminal {
            kill(self.pid, Signal::SIGKILL)
        } else {
            killpg(self.pid, Signal::SIGKILL)
        };
    }
}

fn code_of(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    let signal = status.signal().and_then(|signal| u8::try_from(signal).ok());
    ExitCode::from(match (code, signal) {
        (Some(code), _) => code,
        (None, signal) => SIGNALLED.saturating_add(signal.unwrap_or_default()),
    })
}

pub(super) fn code_of_signal(signal: Signal) -> ExitCode {
    let number = u8::try_from(signal as i32).unwrap_or_default();
    ExitCode::from(SIGNALLED.saturating_add(number))
}
