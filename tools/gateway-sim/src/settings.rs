//! The settings, and the only place that reads them.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

/// A card processor that runs on your machine: a subset of Stripe's HTTP API, with test cards that
/// misbehave on purpose.
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "gateway-sim", version)]
pub struct Settings {
    /// Address to listen on; port 0 takes any free port.
    #[arg(long, env = "GATEWAY_ADDR", default_value = "127.0.0.1:8090")]
    pub addr: SocketAddr,

    /// Folder of the books; made if it does not exist.
    #[arg(long, env = "GATEWAY_DATA_DIR", default_value = "gateway-data")]
    pub data_dir: PathBuf,

    /// How long an idempotency key keeps its answer, in seconds.
    #[arg(long, env = "GATEWAY_KEY_TTL_SECONDS", default_value_t = 86_400,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub key_ttl_seconds: u32,

    /// Card `pm_sim_slow`: how long a confirm takes, in milliseconds.
    #[arg(long, env = "GATEWAY_SLOW_MS", default_value_t = 1_500,
          value_parser = clap::value_parser!(u32).range(..=60_000))]
    pub slow_ms: u32,

    /// Card `pm_sim_confirm_acts_late`: how late the money is taken, in milliseconds.
    #[arg(long, env = "GATEWAY_LATE_MS", default_value_t = 3_000,
          value_parser = clap::value_parser!(u32).range(..=60_000))]
    pub late_ms: u32,

    /// Card `pm_sim_refund_pending`: how long a refund stays pending, in milliseconds.
    #[arg(long, env = "GATEWAY_PENDING_MS", default_value_t = 3_000,
          value_parser = clap::value_parser!(u32).range(..=3_600_000))]
    pub pending_ms: u32,

    /// How long a request that is never answered is kept open before it gets a 504, in
    /// milliseconds; also the longest that `pm_sim_confirm_held` holds.
    #[arg(long, env = "GATEWAY_HANG_MS", default_value_t = 60_000,
          value_parser = clap::value_parser!(u32).range(1..=600_000))]
    pub hang_ms: u32,
}

impl Settings {
    pub(crate) fn slow(&self) -> Duration {
        Duration::from_millis(self.slow_ms.into())
    }

    pub(crate) fn late(&self) -> Duration {
        Duration::from_millis(self.late_ms.into())
    }

    pub(crate) fn pending(&self) -> Duration {
        Duration::from_millis(self.pending_ms.into())
    }

    pub(crate) fn hang(&self) -> Duration {
        Duration::from_millis(self.hang_ms.into())
    }
}
