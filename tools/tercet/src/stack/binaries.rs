//! Where the services' programs are: beside the one that runs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

/// The folder that holds our programs.
#[derive(Debug, Clone)]
pub(super) struct Binaries {
    folder: PathBuf,
}

impl Binaries {
    /// Looks beside the running executable, and one level up: tests run in `target/debug/deps`.
    pub(super) fn find() -> anyhow::Result<Self> {
        let running = std::env::current_exe().context("cannot tell which program this is")?;
        let beside = running.parent().unwrap_or(Path::new("."));
        let candidates = [Some(beside), beside.parent()];
        let folder = candidates
            .into_iter()
            .flatten()
            .find(|folder| missing(folder).is_empty());
        match folder {
            Some(folder) => Ok(Self {
                folder: folder.to_owned(),
            }),
            None => bail!(
                "{} not found in {}: build the programs with `cargo build --bins`",
                missing(beside).join(", "),
                beside.display()
            ),
        }
    }

    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }
}

const PROGRAMS: [&str; 5] = [
    "gateway-sim",
    "inventory-service",
    "order-service",
    "payment-service",
    "tercet",
];

fn missing(folder: &Path) -> Vec<&'static str> {
    PROGRAMS
        .into_iter()
        .filter(|program| !folder.join(program).is_file())
        .collect()
}
