//! Starts the card processor simulator.

use anyhow::Context as _;
use clap::Parser as _;
use tercet_gateway_sim::{Settings, build};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let settings = Settings::parse();
    let application = build(settings).await.context("gateway-sim did not start")?;
    tracing::info!(addr = %application.addr(), "gateway-sim listens");
    application.run(CancellationToken::new()).await?;
    Ok(())
}
