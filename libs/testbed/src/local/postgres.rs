use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::signal::Signal;
use nix::unistd::{User, geteuid};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use super::daemon::{Daemon, end_of};
use super::{free_port, programs};
use crate::process::log;

const READY_WITHIN: Duration = Duration::from_mins(1);
/// Whom PostgreSQL runs as where we are root, which it refuses.
const USER: &str = "postgres";

/// How to run it.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// Enough for many tests at a time; each service's pool takes some.
    pub connections_max: u16,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            connections_max: 400,
        }
    }
}

/// A private PostgreSQL server with the durability of production. Ends, and its data goes, when
/// dropped; the drop waits for that.
#[derive(Debug)]
pub struct LocalPostgres {
    url: String,
    // In this order: the server ends before its folder goes.
    _server: Daemon,
    _folder: TempDir,
}

impl LocalPostgres {
    /// Whether the server's programs are on this machine.
    pub fn is_installed() -> bool {
        programs::postgres_bin().is_ok()
    }

    /// Makes a cluster and returns when it accepts connections.
    ///
    /// # Errors
    /// The programs are missing, or the server does not come up; the error shows the end of its log.
    pub async fn start(options: PostgresOptions) -> anyhow::Result<Self> {
        let bin = programs::postgres_bin()?;
        let user = unprivileged_user()?;
        let folder = tempfile::Builder::new()
            .prefix("tercet-postgres-")
            .tempdir()?;
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700))?;
        if let Some(user) = &user {
            chown(
                folder.path(),
                Some(user.uid.as_raw()),
                Some(user.gid.as_raw()),
            )?;
        }
        let program = |name: &str| {
            let mut command = Command::new(bin.join(name));
            // Its own folder: the current one may be closed to that user.
            command.current_dir(folder.path());
            if let Some(user) = &user {
                command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
            }
            command
        };

        let data = folder.path().join("data");
        init(program("initdb"), &data, &folder.path().join("initdb.log")).await?;
        let port = free_port();
        let mut server = program("postgres");
        server.arg("-D").arg(&data);
        for setting in [
            format!("port={port}"),
            "listen_addresses=127.0.0.1".to_owned(),
            "unix_socket_directories=".to_owned(),
            format!("max_connections={}", options.connections_max),
        ] {
            server.args(["-c", &setting]);
        }
        // SIGQUIT: end at once. Nobody will recover what is thrown away.
        let log = folder.path().join("postgres.log");
        let mut server = Daemon::start("PostgreSQL", server, log, Signal::SIGQUIT)?;
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        server
            .wait_ready(READY_WITHIN, async || {
                PgConnection::connect(&url).await?.close().await
            })
            .await?;
        Ok(Self {
            url,
            _server: server,
            _folder: folder,
        })
    }

    /// Connects as a superuser.
    pub fn url(&self) -> &str {
        &self.url
    }
}

async fn init(mut initdb: Command, data: &Path, log: &Path) -> anyhow::Result<()> {
    let output = log::open(log)?;
    initdb
        .arg("-D")
        .arg(data)
        .args(["-U", "postgres", "-A", "trust", "-E", "UTF8"])
        // The same order of strings on every machine. Not synced: a cluster that the machine's
        // crash destroys was to be thrown away; what the server itself writes is synced as ever.
        .args(["--locale=C", "--no-sync"])
        .stdout(output.try_clone()?)
        .stderr(output);
    let status = tokio::process::Command::from(initdb)
        .process_group(0)
        .kill_on_drop(true)
        .status()
        .await
        .context("cannot start initdb")?;
    if !status.success() {
        bail!("initdb failed ({status}){}", end_of(log));
    }
    Ok(())
}

fn unprivileged_user() -> anyhow::Result<Option<User>> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let user = User::from_name(USER)?;
    let user = user.context("PostgreSQL refuses to run as root, and there is no user postgres")?;
    Ok(Some(user))
}
