//! `tercet doctor`: what is wrong with a setup.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::places::Places;
use crate::{
    doctor::{self, Report, Setup, Way},
    failure::{Exit, Failure},
    screen::Screen,
};

/// What to look at.
#[derive(Debug, Args)]
#[command(after_help = "\
One line for each thing: ok, warning or problem, what was found, and the remedy. Exit code 1 if there is a
problem.

Without --for everything is looked at; what only the tests or Docker Compose need, or a system that does
not run, is then a warning at most. With --for, only what that way needs, and all of it must be there.

Examples:
  tercet doctor
  tercet doctor --for compose
  tercet doctor --for running --json")]
pub struct Doctor {
    /// What you want to do; may be given several times
    #[arg(long = "for", value_name = "WAY", value_enum)]
    ways: Vec<Way>,
    #[command(flatten)]
    places: Places,
    /// The order service's database, as its owner
    #[arg(
        long,
        value_name = "URL",
        env = "ORDER_MIGRATE_URL",
        hide_env_values = true,
        default_value = "postgres://order_owner:order_owner@127.0.0.1:15432/order",
        hide_default_value = true
    )]
    order_migrate: String,
    /// The payment service's database, as its owner
    #[arg(
        long,
        value_name = "URL",
        env = "PAYMENT_MIGRATE_URL",
        hide_env_values = true,
        default_value = "postgres://payment_owner:payment_owner@127.0.0.1:15433/payment",
        hide_default_value = true
    )]
    payment_migrate: String,
    /// The inventory service's database, as its owner
    #[arg(
        long,
        value_name = "URL",
        env = "INVENTORY_MIGRATE_URL",
        hide_env_values = true,
        default_value = "postgres://inventory_owner:inventory_owner@127.0.0.1:15434/inventory",
        hide_default_value = true
    )]
    inventory_migrate: String,
    /// Where the order service's gRPC listens
    #[arg(
        long,
        value_name = "HOST:PORT",
        env = "ORDER_GRPC_ADDR",
        default_value = "127.0.0.1:50051"
    )]
    order_grpc: String,
    /// Where the payment service's gRPC listens
    #[arg(
        long,
        value_name = "HOST:PORT",
        env = "PAYMENT_GRPC_ADDR",
        default_value = "127.0.0.1:50052"
    )]
    payment_grpc: String,
    /// Where the inventory service's gRPC listens
    #[arg(
        long,
        value_name = "HOST:PORT",
        env = "INVENTORY_GRPC_ADDR",
        default_value = "127.0.0.1:50053"
    )]
    inventory_grpc: String,
    /// A folder that must have room; may be given several times. Default: this one and the temporary one
    #[arg(long = "folder", value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Less free space is a problem, less than five times of it a warning
    #[arg(long, value_name = "MIB", default_value_t = 1_024)]
    disk_min_mib: u64,
    /// Clocks further apart than this are a problem
    #[arg(long, value_name = "MS", default_value_t = 1_000)]
    skew_max_ms: u64,
}

impl Doctor {
    /// Does it.
    pub async fn run(self, screen: &Screen) -> Result<(), Failure> {
        let report = doctor::doctor(&self.into_setup()).await;
        screen.one(&report, Report::draw);
        match report.problems {
            0 => Ok(()),
            1 => Err(Failure::new(Exit::Failed, "there is a problem")),
            count => Err(Failure::new(
                Exit::Failed,
                format!("there are {count} problems"),
            )),
        }
    }

    fn into_setup(self) -> Setup {
        let folders = if self.folders.is_empty() {
            vec![PathBuf::from("."), std::env::temp_dir()]
        } else {
            self.folders
        };
        Setup {
            ways: self.ways,
            places: self.places.into(),
            migrate_urls: [
                self.order_migrate,
                self.payment_migrate,
                self.inventory_migrate,
            ],
            grpc: [self.order_grpc, self.payment_grpc, self.inventory_grpc],
            folders,
            disk_min_mib: self.disk_min_mib,
            skew_max: Duration::from_millis(self.skew_max_ms),
        }
    }
}
