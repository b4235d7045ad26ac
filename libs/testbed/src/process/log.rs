use std::fs::{File, OpenOptions};
use std::path::Path;

use anyhow::Context;

/// Opened for appending: what was written before a kill stays.
pub(crate) fn open(path: &Path) -> anyhow::Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.with_context(|| format!("cannot write the log {}", path.display()))
}

/// The last lines of a log, for an error message.
pub(crate) fn tail(path: &Path, lines: usize) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    let from = all.len().saturating_sub(lines);
    all.get(from..).unwrap_or_default().join("\n")
}
