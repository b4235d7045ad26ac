//! Starts order-service.

use std::process::ExitCode;

use anyhow::Context as _;
use tercet_order::{Settings, build, settings::Command};
use tercet_service_kit::shutdown::Shutdown;

#[tokio::main]
async fn main() -> ExitCode {
    let settings = Settings::parse();
    if let Some(Command::Healthcheck) = settings.command {
        return settings.healthcheck().await;
    }
    let telemetry =
        tercet_telemetry::init("order-service", &settings.instance_id, settings.log_format);
    let _flushes_at_the_end = match telemetry {
        Ok(guard) => guard,
        Err(error) => {
            eprintln!("order-service: {:#}", anyhow::Error::from(error));
            return ExitCode::FAILURE;
        }
    };
    match serve(&settings).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "order-service ends");
            ExitCode::FAILURE
        }
    }
}

async fn serve(settings: &Settings) -> anyhow::Result<()> {
    let shutdown = Shutdown::on_signals(settings.shutdown_grace()).context("no signals")?;
    let application = build(settings, shutdown).await.context("did not start")?;
    match application {
        Some(application) => Ok(application.run().await?),
        None => Ok(()),
    }
}
