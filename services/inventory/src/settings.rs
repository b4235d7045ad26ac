//! The settings, and the only place that reads them.

use std::{net::SocketAddr, time::Duration};

use clap::{Parser, Subcommand};
use secrecy::SecretString;
use tercet_service_kit::database::MigrateMode;
use tercet_telemetry::LogFormat;

/// Stock, and the holds on it. Never sells what is not there.
#[derive(Debug, Clone, Parser)]
#[command(name = "inventory-service", version)]
pub struct Settings {
    /// Address of the gRPC server; port 0 takes any free port.
    #[arg(long, env = "INVENTORY_GRPC_ADDR", default_value = "127.0.0.1:50053")]
    pub grpc_addr: SocketAddr,

    /// Address of /metrics, /healthz and /readyz.
    #[arg(long, env = "INVENTORY_ADMIN_ADDR", default_value = "127.0.0.1:9103")]
    pub admin_addr: SocketAddr,

    /// PostgreSQL, as the restricted role.
    #[arg(
        long,
        env = "INVENTORY_DATABASE_URL",
        hide_env_values = true,
        default_value = "postgres://inventory_service:inventory_service@127.0.0.1:15434/inventory",
        hide_default_value = true
    )]
    pub database_url: SecretString,

    /// PostgreSQL, as the owner role: used for the migrations, then closed.
    #[arg(
        long,
        env = "INVENTORY_MIGRATE_URL",
        hide_env_values = true,
        default_value = "postgres://inventory_owner:inventory_owner@127.0.0.1:15434/inventory",
        hide_default_value = true
    )]
    pub migrate_url: SecretString,

    /// What to do about the schema at start.
    #[arg(long, env = "INVENTORY_MIGRATE", value_enum, default_value_t = MigrateMode::Auto)]
    pub migrate: MigrateMode,

    /// Connections to PostgreSQL at most, beside the relay's few.
    #[arg(long, env = "INVENTORY_DATABASE_CONNECTIONS", default_value_t = 16,
          value_parser = clap::value_parser!(u32).range(2..=200))]
    pub database_connections: u32,

    /// Kafka, as host:port,…
    #[arg(long, env = "KAFKA_BROKERS", default_value = "127.0.0.1:19092")]
    pub kafka_brokers: String,

    /// First part of the topics' names.
    #[arg(long, env = "TOPIC_PREFIX", default_value = "tercet")]
    pub topic_prefix: String,

    /// Name of this process; unique among live ones, best kept over a restart.
    #[arg(long, env = "INSTANCE_ID", default_value = "inventory-service")]
    pub instance_id: String,

    /// How log lines look: json or pretty.
    #[arg(long, env = "LOG_FORMAT", default_value = "json")]
    pub log_format: LogFormat,

    /// How long a shutdown may take, in seconds.
    #[arg(long, env = "SHUTDOWN_GRACE_SECONDS", default_value_t = 20,
          value_parser = clap::value_parser!(u64).range(1..=600))]
    pub shutdown_grace_seconds: u64,

    /// The longest hold that is granted, in seconds.
    #[arg(long, env = "INVENTORY_HOLD_MAX_SECONDS", default_value_t = 3_600,
          value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub hold_max_seconds: u64,

    /// How often expired holds are looked for, in milliseconds.
    #[arg(long, env = "INVENTORY_SWEEP_INTERVAL_MS", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    pub sweep_interval_ms: u64,

    /// Fill the stock with goods to play with.
    #[arg(long, env = "INVENTORY_SEED_DEMO", default_value_t = false,
          action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub seed_demo: bool,

    /// Something else than to serve.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Something else than to serve.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum Command {
    /// Ask a running service whether it is ready; exit code 0 if it is
    Healthcheck,
}

impl Settings {
    pub(crate) fn topic(&self) -> String {
        format!("{}.inventory.events.v1", self.topic_prefix)
    }

    pub(crate) fn sweep_interval(&self) -> Duration {
        Duration::from_millis(self.sweep_interval_ms)
    }

    pub(crate) fn hold_max(&self) -> Duration {
        Duration::from_secs(self.hold_max_seconds)
    }

    /// How long a shutdown may take.
    pub fn shutdown_grace(&self) -> Duration {
        Duration::from_secs(self.shutdown_grace_seconds)
    }
}
