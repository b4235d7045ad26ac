//! What is shown and kept when a test fails.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use super::say;

const LINES_SHOWN: usize = 12;
/// Of a line: a JSON log line can be long, and its beginning tells.
const CHARS_SHOWN: usize = 600;

/// Shows the end of each log if it is dropped by a failing test.
#[derive(Clone)]
pub(super) struct Failing {
    directory: PathBuf,
    has_failed: Arc<AtomicBool>,
}

impl Failing {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            has_failed: Arc::default(),
        }
    }

    /// Whether any test that uses this world has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        if thread::panicking() && !self.has_failed.swap(true, Ordering::SeqCst) {
            show(&self.directory);
        }
    }
}

fn show(directory: &Path) {
    say(&format!(
        "kept: databases, topics, and {}",
        directory.display()
    ));
    let mut logs: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    logs.sort();
    for log in logs {
        let text = fs::read(&log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        say(&format!("--- the end of {}", log.display()));
        for line in lines.iter().skip(lines.len().saturating_sub(LINES_SHOWN)) {
            say(&line.chars().take(CHARS_SHOWN).collect::<String>());
        }
    }
}
