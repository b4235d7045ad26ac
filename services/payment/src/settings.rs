//! The settings, and the only place that reads them.

use std::{net::SocketAddr, time::Duration};

use clap::{Parser, Subcommand};
use secrecy::SecretString;
use tercet_service_kit::database::MigrateMode;
use tercet_telemetry::LogFormat;

/// Charges and refunds. Takes money once, and gives it back once.
#[derive(Debug, Clone, Parser)]
#[command(name = "payment-service", version)]
pub struct Settings {
    /// Address of the gRPC server; port 0 takes any free port.
    #[arg(long, env = "PAYMENT_GRPC_ADDR", default_value = "127.0.0.1:50052")]
    pub grpc_addr: SocketAddr,

    /// Address of /metrics, /healthz and /readyz.
    #[arg(long, env = "PAYMENT_ADMIN_ADDR", default_value = "127.0.0.1:9102")]
    pub admin_addr: SocketAddr,

    /// PostgreSQL, as the restricted role.
    #[arg(
        long,
        env = "PAYMENT_DATABASE_URL",
        hide_env_values = true,
        default_value = "postgres://payment_service:payment_service@127.0.0.1:15433/payment",
        hide_default_value = true
    )]
    pub database_url: SecretString,

    /// PostgreSQL, as the owner role: used for the migrations, then closed.
    #[arg(
        long,
        env = "PAYMENT_MIGRATE_URL",
        hide_env_values = true,
        default_value = "postgres://payment_owner:payment_owner@127.0.0.1:15433/payment",
        hide_default_value = true
    )]
    pub migrate_url: SecretString,

    /// What to do about the schema at start.
    #[arg(long, env = "PAYMENT_MIGRATE", value_enum, default_value_t = MigrateMode::Auto)]
    pub migrate: MigrateMode,

    /// Connections to PostgreSQL at most, beside the relay's few.
    #[arg(long, env = "PAYMENT_DATABASE_CONNECTIONS", default_value_t = 16,
          value_parser = clap::value_parser!(u32).range(2..=200))]
    pub database_connections: u32,

    /// Kafka, as host:port,…
    #[arg(long, env = "KAFKA_BROKERS", default_value = "127.0.0.1:19092")]
    pub kafka_brokers: String,

    /// First part of the topics' names.
    #[arg(long, env = "TOPIC_PREFIX", default_value = "tercet")]
    pub topic_prefix: String,

    /// Name of this process; unique among live ones, best kept over a restart.
    #[arg(long, env = "INSTANCE_ID", default_value = "payment-service")]
    pub instance_id: String,

    /// How log lines look: json or pretty.
    #[arg(long, env = "LOG_FORMAT", default_value = "json")]
    pub log_format: LogFormat,

    /// How long a shutdown may take, in seconds.
    #[arg(long, env = "SHUTDOWN_GRACE_SECONDS", default_value_t = 20,
          value_parser = clap::value_parser!(u64).range(1..=600))]
    pub shutdown_grace_seconds: u64,

    /// The card processor: an HTTP API as Stripe's.
    #[arg(
        long,
        env = "PAYMENT_GATEWAY_URL",
        default_value = "http://127.0.0.1:8090"
    )]
    pub gateway_url: String,

    /// Its API key.
    #[arg(
        long,
        env = "PAYMENT_GATEWAY_KEY",
        hide_env_values = true,
        default_value = "sk_test_tercet",
        hide_default_value = true
    )]
    pub gateway_key: SecretString,

    /// How long one call to it may take, in milliseconds.
    #[arg(long, env = "PAYMENT_GATEWAY_TIMEOUT_MS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(10..=120_000))]
    pub gateway_timeout_ms: u64,

    /// The longest rest before a payment without an answer is asked about again, in milliseconds.
    #[arg(long, env = "PAYMENT_RESOLVE_AFTER_MS", default_value_t = 30_000,
          value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    pub resolve_after_ms: u64,

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
        format!("{}.payment.events.v1", self.topic_prefix)
    }

    pub(crate) fn gateway_timeout(&self) -> Duration {
        Duration::from_millis(self.gateway_timeout_ms)
    }

    pub(crate) fn resolve_after(&self) -> Duration {
        Duration::from_millis(self.resolve_after_ms)
    }

    /// How long a shutdown may take.
    pub fn shutdown_grace(&self) -> Duration {
        Duration::from_secs(self.shutdown_grace_seconds)
    }
}
