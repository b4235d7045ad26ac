//! Runs the command.

use std::{path::PathBuf, time::Duration};

use serde_json::Value;
use tokio::{process::Command, time::timeout};

use crate::world::say;

const HANGS_AFTER: Duration = Duration::from_secs(30);

/// What it said.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) exit: i32,
    checks: Vec<Value>,
}

impl Answer {
    /// The line about `name` has that level, and says all `words`.
    pub(super) fn assert(&self, level: &str, name: &str, words: &[&str]) {
        let line = self.checks.iter().find(|check| check["name"] == name);
        let line = line.unwrap_or_else(|| panic!("nothing about {name}: {:#?}", self.checks));
        assert_eq!(line["level"], level, "{line:#}");
        for word in words {
            assert!(
                line.to_string().contains(word),
                "{word:?} is not in {line:#}"
            );
        }
        if level != "OK" {
            assert_ne!(line["remedy"], "", "{line:#}");
            let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
            say(&format!(
                "doctor: {name}: {} → {}",
                text("found"),
                text("remedy")
            ));
        }
    }

    /// Nothing is wrong.
    pub(super) fn assert_clean(&self) {
        let wrong: Vec<&Value> = self
            .checks
            .iter()
            .filter(|it| it["level"] != "OK")
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert_eq!(self.exit, 0);
    }

    /// So many problems, and the exit code says so.
    pub(super) fn assert_problems(&self, count: usize) {
        let problems: Vec<&Value> = self
            .checks
            .iter()
            .filter(|it| it["level"] == "PROBLEM")
            .collect();
        assert_eq!(problems.len(), count, "{problems:#?}");
        assert_eq!(self.exit, i32::from(count > 0));
    }
}

/// Asks with these arguments and variables.
pub(super) async fn doctor(arguments: &[&str], variables: &[(&str, &str)]) -> Answer {
    let mut command = Command::new(program());
    command.arg("doctor").arg("--json").args(arguments);
    command.env_remove("TERCET_OUTPUT").kill_on_drop(true);
    command.envs(variables.iter().copied());
    let output = timeout(HANGS_AFTER, command.output()).await;
    let output = output.expect("it hangs").unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    });
    Answer {
        exit: output.status.code().unwrap(),
        checks: json["checks"].as_array().unwrap().clone(),
    }
}

/// Beside the services: tests run one folder below them.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(|deps| deps.parent()).unwrap();
    folder.join("tercet")
}
