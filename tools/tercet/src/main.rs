//! `tercet`: see `tercet --help`.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    tercet_cli::run().await
}
