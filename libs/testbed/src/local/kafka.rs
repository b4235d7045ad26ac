use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::daemon::{Daemon, end_of};
use super::{free_port, jars, programs};
use crate::kafka::answers;
use crate::process::log;

const READY_WITHIN: Duration = Duration::from_mins(1);
/// Any will do: each cluster has a folder of its own.
const CLUSTER_ID: &str = "5L6g3nShT-eMCtK--X86sw";

/// A private Kafka of one node, without auto-created topics. Ends, and its data goes, when dropped;
/// the drop waits for that.
#[derive(Debug)]
pub struct LocalKafka {
    brokers: String,
    // In this order: the broker ends before its folder goes.
    _broker: Daemon,
    _folder: TempDir,
}

impl LocalKafka {
    /// Whether what it needs is on this machine, or can be fetched.
    pub fn is_installed() -> bool {
        programs::java().is_ok() && (Self::is_fetched() || programs::maven().is_ok())
    }

    /// Whether Kafka's jars are in Tercet's cache; otherwise [`start`](Self::start) fetches them first,
    /// 44 MB.
    pub fn is_fetched() -> bool {
        jars::folder().is_ok_and(|libs| jars::are_there(&libs))
    }

    /// Formats a log folder and returns when the broker answers.
    ///
    /// # Errors
    /// Java is missing, the jars cannot be fetched, or the broker does not come up; the error shows
    /// the end of its log.
    pub async fn start() -> anyhow::Result<Self> {
        let java = programs::java()?;
        let libs = jars::folder()?;
        if !jars::are_there(&libs) {
            jars::fetch(&libs).await?;
        }
        let folder = tempfile::Builder::new().prefix("tercet-kafka-").tempdir()?;
        let properties = folder.path().join("server.properties");
        let (broker, controller) = (free_port(), free_port());
        let brokers = format!("127.0.0.1:{broker}");
        std::fs::write(&properties, settings(broker, controller, folder.path()))?;

        let class_path = libs.join("*"); // Java's own wildcard
        let program = || {
            let mut command = Command::new(&java);
            command.args(["-Xms256m", "-Xmx512m", "-XX:+UseSerialGC"]);
            command
                .args(["-XX:TieredStopAtLevel=1", "-cp"])
                .arg(&class_path);
            command.current_dir(folder.path());
            command
        };
        format(program(), &properties, &folder.path().join("format.log")).await?;
        let mut server = program();
        server.arg("kafka.Kafka").arg(&properties);
        // SIGKILL: an orderly end would take seconds, to save what is thrown away.
        let log = folder.path().join("kafka.log");
        let mut server = Daemon::start("Kafka", server, log, Signal::SIGKILL)?;
        server
            .wait_ready(READY_WITHIN, async || answers(&brokers).await)
            .await?;
        Ok(Self {
            brokers,
            _broker: server,
            _folder: folder,
        })
    }

    /// `host:port`.
    pub fn brokers(&self) -> &str {
        &self.brokers
    }
}

async fn format(mut java: Command, properties: &Path, log: &Path) -> anyhow::Result<()> {
    let output = log::open(log)?;
    java.args(["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c"])
        .arg(properties)
        .stdout(output.try_clone()?)
        .stderr(output);
    let status = tokio::process::Command::from(java)
        .process_group(0)
        .kill_on_drop(true)
        .status()
        .await
        .context("cannot start Java")?;
    if !status.success() {
        bail!("Kafka's storage cannot be made ({status}){}", end_of(log));
    }
    Ok(())
}

fn settings(broker: u16, controller: u16, folder: &Path) -> String {
    let logs = folder.join("logs");
    format!(
        "node.id=1
process.roles=broker,controller
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
controller.quorum.voters=1@127.0.0.1:{controller}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.dirs={}
",
        logs.display()
    )
}
