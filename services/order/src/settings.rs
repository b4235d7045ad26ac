//! The settings, and the only place that reads them.

use std::{net::SocketAddr, time::Duration};

use clap::builder::BoolishValueParser;
use secrecy::SecretString;
use tercet_saga::Timing;
use tercet_service_kit::{admin_http, database::MigrateMode, settings};
use tercet_telemetry::LogFormat;

use crate::saga::place_order::{CHARGE_PAYMENT, RESERVE_STOCK};

/// Takes orders, and drives each through stock, payment and delivery by its saga.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "order-service", version)]
pub struct Settings {
    #[command(subcommand)]
    pub command: Option<Command>,

    /// gRPC address to listen on; port 0 takes any free port.
    #[arg(long, env = "ORDER_GRPC_ADDR", default_value = "127.0.0.1:50051")]
    pub grpc_addr: SocketAddr,

    /// Address of `/metrics`, `/healthz` and `/readyz`.
    #[arg(long, env = "ORDER_ADMIN_ADDR", default_value = "127.0.0.1:9101")]
    pub admin_addr: SocketAddr,

    /// Database, as the restricted role.
    #[arg(
        long,
        env = "ORDER_DATABASE_URL",
        hide_env_values = true,
        default_value = "postgres://order_service:order_service@127.0.0.1:15432/order",
        hide_default_value = true
    )]
    pub database_url: SecretString,

    /// Database, as its owner: for migrations only, closed after them.
    #[arg(
        long,
        env = "ORDER_MIGRATE_URL",
        hide_env_values = true,
        default_value = "postgres://order_owner:order_owner@127.0.0.1:15432/order",
        hide_default_value = true
    )]
    pub migrate_url: SecretString,

    /// Connections to the database at most.
    #[arg(long, env = "ORDER_DATABASE_CONNECTIONS", default_value_t = 24,
          value_parser = clap::value_parser!(u32).range(4..))]
    pub database_connections: u32,

    /// What to do about the schema at start.
    #[arg(long, env = "ORDER_MIGRATE", value_enum, default_value_t)]
    pub migrate: MigrateMode,

    /// payment-service.
    #[arg(
        long,
        env = "ORDER_PAYMENT_URL",
        default_value = "http://127.0.0.1:50052"
    )]
    pub payment_url: String,

    /// inventory-service.
    #[arg(
        long,
        env = "ORDER_INVENTORY_URL",
        default_value = "http://127.0.0.1:50053"
    )]
    pub inventory_url: String,

    /// Kafka, as `host:port`, several by commas.
    #[arg(long, env = "KAFKA_BROKERS", default_value = "127.0.0.1:19092")]
    pub kafka_brokers: String,

    /// Topics are `{prefix}.order.events.v1` and so on; the consumer group has the prefix, too.
    #[arg(long, env = "TOPIC_PREFIX", default_value = "tercet")]
    pub topic_prefix: String,

    /// How long topics keep messages, in hours; asked of the broker, this is for one that cannot say.
    #[arg(long, env = "TOPIC_RETENTION_HOURS", default_value_t = 7 * 24,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub topic_retention_hours: u32,

    /// Unique among live processes. Kept over a restart, its work is taken up at once.
    #[arg(long, env = "INSTANCE_ID", default_value = "order-service")]
    pub instance_id: String,

    /// `json` for machines, `pretty` for people.
    #[arg(long, env = "LOG_FORMAT", default_value = "json")]
    pub log_format: LogFormat,

    /// How long a shutdown may take, in seconds; then what still runs is aborted.
    #[arg(long, env = "SHUTDOWN_GRACE_SECONDS", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub shutdown_grace_seconds: u32,

    /// How long stock is held for an order, in seconds.
    #[arg(long, env = "ORDER_HOLD_TTL_SECONDS", default_value_t = 900,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub hold_ttl_seconds: u32,

    /// Start although a hold may end before its order is paid.
    #[arg(long, env = "ORDER_ALLOW_SHORT_HOLD", value_parser = BoolishValueParser::new())]
    pub allow_short_hold: bool,

    /// How long reserving stock may take before the order turns back, in seconds.
    #[arg(long, env = "ORDER_RESERVE_BUDGET_SECONDS", default_value_t = 30,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub reserve_budget_seconds: u32,

    /// How long charging may take before the order turns back, in seconds.
    #[arg(long, env = "ORDER_CHARGE_BUDGET_SECONDS", default_value_t = 300,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub charge_budget_seconds: u32,

    /// How long everything before the stock is committed may take, in seconds.
    #[arg(long, env = "ORDER_SAGA_BUDGET_SECONDS", default_value_t = 480,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub saga_budget_seconds: u32,

    /// After how long without an ack a command is sent again for the first time, in milliseconds.
    #[arg(long, env = "ORDER_NO_ACK_FIRST_MS", default_value_t = 2_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub no_ack_first_ms: u32,

    /// As set for payment-service: how long it waits for the card processor, in milliseconds. Only
    /// checked against the charge's budget.
    #[arg(long, env = "PAYMENT_GATEWAY_TIMEOUT_MS", default_value_t = 10_000)]
    pub gateway_timeout_ms: u32,

    /// As set for payment-service: after how long it looks into an unknown charge, in milliseconds.
    /// Only checked against the charge's budget.
    #[arg(long, env = "PAYMENT_RESOLVE_AFTER_MS", default_value_t = 30_000)]
    pub resolve_after_ms: u32,

    /// `WatchOrder` streams at once.
    #[arg(long, env = "ORDER_WATCHERS_MAX", default_value_t = 500,
          value_parser = clap::value_parser!(u16).range(1..))]
    pub watchers_max: u16,

    /// Add products to play with.
    #[arg(long, env = "ORDER_SEED_DEMO", value_parser = BoolishValueParser::new())]
    pub seed_demo: bool,
}

/// What to do instead of serving.
#[derive(Clone, Copy, Debug, clap::Subcommand)]
pub enum Command {
    /// Ask a running service whether it is ready; exit 0 if so.
    Healthcheck,
}

impl Settings {
    /// Of this process. A mistake ends it with exit code 64, every mistake told.
    pub fn parse() -> Self {
        settings::parse_checked(Self::problems)
    }

    /// What does not fit together.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.hold_is_short() && !self.allow_short_hold {
            problems.push(format!(
                "ORDER_HOLD_TTL_SECONDS (--hold-ttl-seconds): {} is not more than \
                 ORDER_RESERVE_BUDGET_SECONDS {} + ORDER_CHARGE_BUDGET_SECONDS {}: a hold could end \
                 before its order is paid; ORDER_ALLOW_SHORT_HOLD starts all the same",
                self.hold_ttl_seconds, self.reserve_budget_seconds, self.charge_budget_seconds
            ));
        }
        let charge_ms = u64::from(self.charge_budget_seconds) * 1_000;
        let answer_ms = u64::from(self.gateway_timeout_ms) + u64::from(self.resolve_after_ms);
        if charge_ms <= answer_ms {
            problems.push(format!(
                "ORDER_CHARGE_BUDGET_SECONDS (--charge-budget-seconds): {} is not more than \
                 PAYMENT_GATEWAY_TIMEOUT_MS {} + PAYMENT_RESOLVE_AFTER_MS {}: an order could turn \
                 back while its charge is being looked into",
                self.charge_budget_seconds, self.gateway_timeout_ms, self.resolve_after_ms
            ));
        }
        problems
    }

    /// A hold may end before its order is paid: then its stock is committed only if it is still there.
    pub fn hold_is_short(&self) -> bool {
        let budgets =
            u64::from(self.reserve_budget_seconds) + u64::from(self.charge_budget_seconds);
        u64::from(self.hold_ttl_seconds) <= budgets
    }

    /// The saga's waits.
    pub fn timing(&self) -> Timing {
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        let timing = Timing {
            first_try: Duration::from_millis(self.no_ack_first_ms.into()),
            before_pivot: Some(seconds(self.saga_budget_seconds)),
            ..Timing::default()
        };
        timing
            .budget(RESERVE_STOCK, seconds(self.reserve_budget_seconds))
            .budget(CHARGE_PAYMENT, seconds(self.charge_budget_seconds))
    }

    /// How long a shutdown may take.
    pub fn shutdown_grace(&self) -> Duration {
        Duration::from_secs(self.shutdown_grace_seconds.into())
    }

    /// One for each stack that shares a Kafka.
    pub fn consumer_group(&self) -> String {
        format!("{}.order-service", self.topic_prefix)
    }

    /// The exit code of `healthcheck`.
    pub async fn healthcheck(&self) -> std::process::ExitCode {
        admin_http::healthcheck(self.admin_addr).await
    }
}
