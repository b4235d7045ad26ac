//! A running stack.

use std::{
    collections::BTreeMap, fs, net::SocketAddr, path::Path, process::ExitStatus, time::Duration,
};

use anyhow::Context as _;
use futures::future;
use tercet_testbed::{
    local::free_port,
    process::{Process, ProcessOptions, Ready},
};

use super::{
    Broker, Databases, Part, StackOptions, binaries::Binaries, environment::Wiring, ports::Ports,
};
use crate::{
    audit::{Sources, TopicSource},
    client::Remote,
    topics,
};

const READY_WITHIN: Duration = Duration::from_secs(45);
const STOP_WITHIN: Duration = Duration::from_secs(25);
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// Told to whoever watches a stack start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage<'a> {
    /// This is being done now.
    Begins(&'a str),
    /// This is done.
    Done(&'a str),
}

/// The whole system, running. Its processes are killed when it is dropped.
#[derive(Debug)]
pub struct Stack {
    options: StackOptions,
    databases: Databases,
    brokers: String,
    ports: Ports,
    processes: BTreeMap<Part, Process>,
}

impl Stack {
    /// Makes databases and topics, starts everything, and returns when all of it is ready.
    pub async fn start(options: StackOptions) -> anyhow::Result<Self> {
        Self::start_watched(options, |_| ()).await
    }

    /// The same, telling `watch` what is being done.
    pub async fn start_watched(
        options: StackOptions,
        mut watch: impl FnMut(Stage<'_>),
    ) -> anyhow::Result<Self> {
        let binaries = Binaries::find()?;
        fs::create_dir_all(&options.directory)
            .with_context(|| format!("cannot make {}", options.directory.display()))?;

        watch(Stage::Begins("databases"));
        let databases = Databases::create(&options.postgres_url, &options.name).await?;
        watch(Stage::Done("databases"));

        let ports = Ports::choose(options.order_instances, free_port);
        let mut stack = Self {
            brokers: match &options.broker {
                Broker::Kafka(brokers) => brokers.clone(),
                Broker::Embedded => ports.address(Part::Broker).to_string(),
            },
            options,
            databases,
            ports,
            processes: BTreeMap::new(),
        };
        stack.start_broker(&binaries, &mut watch).await?;
        watch(Stage::Begins("services"));
        stack.start_together(&binaries, stack.services()).await?;
        watch(Stage::Done("services"));
        Ok(stack)
    }

    async fn start_broker(
        &mut self,
        binaries: &Binaries,
        watch: &mut impl FnMut(Stage<'_>),
    ) -> anyhow::Result<()> {
        let (what, parts) = match self.options.broker {
            Broker::Embedded => ("embedded broker", vec![Part::Broker]),
            Broker::Kafka(_) => ("topics", Vec::new()),
        };
        watch(Stage::Begins(what));
        if parts.is_empty() {
            topics::create(&self.brokers, &self.options.name).await?;
        }
        self.start_together(binaries, parts).await?;
        watch(Stage::Done(what));
        Ok(())
    }

    fn services(&self) -> Vec<Part> {
        let orders = (0..self.options.order_instances).map(Part::Order);
        [Part::Gateway, Part::Inventory, Part::Payment]
            .into_iter()
            .chain(orders)
            .collect()
    }

    /// Starts `parts` at once and waits for all of them.
    async fn start_together(
        &mut self,
        binaries: &Binaries,
        parts: Vec<Part>,
    ) -> anyhow::Result<()> {
        let mut started = Vec::new();
        for part in parts {
            started.push((part, Process::start(self.process_options(binaries, part))?));
        }
        let waits = started
            .iter_mut()
            .map(|(_, process)| process.wait_ready(READY_WITHIN));
        future::try_join_all(waits).await?;
        self.processes.extend(started);
        Ok(())
    }

    fn process_options(&self, binaries: &Binaries, part: Part) -> ProcessOptions {
        let wiring = Wiring {
            options: &self.options,
            databases: &self.databases,
            brokers: &self.brokers,
            ports: &self.ports,
        };
        let ready = match part {
            Part::Broker => Ready::Tcp(self.ports.address(part)),
            Part::Gateway => Ready::Http {
                address: self.ports.address(part),
                path: "/healthz".to_owned(),
            },
            Part::Inventory | Part::Payment | Part::Order(_) => Ready::Http {
                address: self.ports.admin_address(part),
                path: "/readyz".to_owned(),
            },
        };
        ProcessOptions {
            name: part.to_string(),
            program: binaries.path(part.program()),
            arguments: match part {
                Part::Broker => vec!["broker".to_owned()],
                _ => Vec::new(),
            },
            variables: wiring.variables(part),
            log: self.options.directory.join(format!("{part}.log")),
            ready,
        }
    }

    /// SIGKILL. Returns when the process is gone.
    pub async fn kill9(&mut self, part: Part) -> anyhow::Result<()> {
        self.process(part)?.kill().await
    }

    /// Starts a part again, killing it first if it runs, and waits until it is ready.
    pub async fn restart(&mut self, part: Part) -> anyhow::Result<()> {
        let process = self.process(part)?;
        process.restart().await?;
        process.wait_ready(READY_WITHIN).await
    }

    /// Waits until a part has ended by itself, for example at a crash point.
    pub async fn wait_ended(&mut self, part: Part, within: Duration) -> anyhow::Result<ExitStatus> {
        self.process(part)?.wait_ended(within).await
    }

    /// Whether a part runs.
    pub fn is_running(&mut self, part: Part) -> bool {
        self.processes
            .get_mut(&part)
            .is_some_and(Process::is_running)
    }

    /// Changes a variable of a part, for its next start; `None` takes it away.
    pub fn set_variable(
        &mut self,
        part: Part,
        name: &str,
        value: Option<&str>,
    ) -> anyhow::Result<()> {
        let process = self.process(part)?;
        match value {
            Some(value) => process.set_variable(name, value),
            None => process.remove_variable(name),
        }
        Ok(())
    }

    /// SIGTERM to everything, services first; what does not end in time is killed, and is an error.
    pub async fn stop_all(&mut self) -> anyhow::Result<()> {
        let mut processes = std::mem::take(&mut self.processes);
        // The broker and the processor go last: the services drain into them.
        let last: Vec<_> = [Part::Broker, Part::Gateway]
            .into_iter()
            .filter_map(|part| processes.remove(&part))
            .collect();
        for mut group in [processes.into_values().collect(), last] {
            let ends = group
                .iter_mut()
                .map(|process| process.terminate(STOP_WITHIN));
            let ended: Vec<_> = future::join_all(ends).await;
            ended.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
        }
        Ok(())
    }

    /// The broker is gone, and its topics with it: [`remove`](Self::remove) leaves them alone.
    pub fn forget_broker(&mut self) {
        self.options.broker = Broker::Embedded;
    }

    /// Stops everything and removes databases and topics. The logs stay.
    pub async fn remove(mut self) -> anyhow::Result<()> {
        self.stop_all().await?;
        let topics = async {
            match &self.options.broker {
                Broker::Kafka(brokers) => topics::delete(brokers, &self.options.name).await,
                Broker::Embedded => Ok(()),
            }
        };
        let databases = self.databases.drop_all(&self.options.postgres_url);
        future::try_join(topics, databases).await?;
        Ok(())
    }

    /// How it was built.
    pub fn options(&self) -> &StackOptions {
        &self.options
    }

    /// Its databases.
    pub fn databases(&self) -> &Databases {
        &self.databases
    }

    /// Its brokers, as `host:port,…`.
    pub fn brokers(&self) -> &str {
        &self.brokers
    }

    /// The first part of its topics' names.
    pub fn topic_prefix(&self) -> &str {
        &self.options.name
    }

    /// Where a part listens: gRPC for the services, HTTP for the processor.
    pub fn address(&self, part: Part) -> SocketAddr {
        self.ports.address(part)
    }

    /// The same as a URL.
    pub fn url(&self, part: Part) -> String {
        self.ports.url(part)
    }

    /// Where a service serves /metrics, /healthz and /readyz.
    pub fn admin_address(&self, part: Part) -> SocketAddr {
        self.ports.admin_address(part)
    }

    /// Where a part's output goes.
    pub fn log(&self, part: Part) -> std::path::PathBuf {
        self.options.directory.join(format!("{part}.log"))
    }

    /// Where all logs are.
    pub fn directory(&self) -> &Path {
        &self.options.directory
    }

    /// A service to call; its stubs are cheap to make.
    pub fn remote(&self, part: Part) -> anyhow::Result<Remote> {
        Remote::new(part.program(), &self.url(part), CALL_TIMEOUT)
            .map_err(|failure| anyhow::anyhow!(failure.what))
    }

    /// What an audit of this stack reads.
    pub fn audit_sources(&self) -> Sources {
        let topics = match &self.options.broker {
            Broker::Kafka(brokers) => TopicSource::Kafka {
                brokers: brokers.clone(),
                prefix: self.options.name.clone(),
            },
            Broker::Embedded => TopicSource::Unread("the embedded broker keeps nothing".to_owned()),
        };
        Sources {
            order_database: self.databases.order.admin_url.clone(),
            payment_database: self.databases.payment.admin_url.clone(),
            inventory_database: self.databases.inventory.admin_url.clone(),
            gateway_url: self.url(Part::Gateway),
            topics,
        }
    }

    /// Where `tercet why` and `tercet doctor` look, as variables of their processes: with no more rights
    /// than the services have, and their owners' for the schema.
    pub fn places(&self) -> Vec<(String, String)> {
        let admin = |part| self.admin_address(part).to_string();
        let grpc = |part| self.address(part).to_string();
        let places = [
            ("ORDER_MIGRATE_URL", self.databases.order.owner_url.clone()),
            (
                "PAYMENT_MIGRATE_URL",
                self.databases.payment.owner_url.clone(),
            ),
            (
                "INVENTORY_MIGRATE_URL",
                self.databases.inventory.owner_url.clone(),
            ),
            ("ORDER_GRPC_ADDR", grpc(Part::Order(0))),
            ("PAYMENT_GRPC_ADDR", grpc(Part::Payment)),
            ("INVENTORY_GRPC_ADDR", grpc(Part::Inventory)),
            (
                "ORDER_DATABASE_URL",
                self.databases.order.service_url.clone(),
            ),
            (
                "PAYMENT_DATABASE_URL",
                self.databases.payment.service_url.clone(),
            ),
            (
                "INVENTORY_DATABASE_URL",
                self.databases.inventory.service_url.clone(),
            ),
            ("KAFKA_BROKERS", self.brokers.clone()),
            ("TOPIC_PREFIX", self.options.name.clone()),
            ("PAYMENT_GATEWAY_URL", self.url(Part::Gateway)),
            ("ORDER_ADMIN_ADDR", admin(Part::Order(0))),
            ("PAYMENT_ADMIN_ADDR", admin(Part::Payment)),
            ("INVENTORY_ADMIN_ADDR", admin(Part::Inventory)),
        ];
        let places = places.into_iter();
        places
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    fn process(&mut self, part: Part) -> anyhow::Result<&mut Process> {
        self.processes
            .get_mut(&part)
            .with_context(|| format!("the stack has no {part}"))
    }
}
