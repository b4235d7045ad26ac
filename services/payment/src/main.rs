//! Starts the payment service.

use std::process::ExitCode;

use anyhow::Context as _;
use tercet_payment::{
    settings::{Command, Settings},
    startup::build,
};
use tercet_service_kit::{admin_http, settings, shutdown::Shutdown};

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let settings: Settings = settings::parse();
    if let Some(Command::Healthcheck) = settings.command {
        return Ok(admin_http::healthcheck(settings.admin_addr).await);
    }
    let (id, format) = (settings.instance_id.clone(), settings.log_format);
    let _telemetry = tercet_telemetry::init("payment-service", &id, format)?;
    let shutdown = Shutdown::on_signals(settings.shutdown_grace())?;

    let built = build(settings, shutdown).await;
    if let Some(application) = built.context("payment-service did not start")? {
        tracing::info!(grpc = %application.grpc_addr, admin = %application.admin_addr, "serving");
        application.run().await?;
    }
    Ok(ExitCode::SUCCESS)
}
