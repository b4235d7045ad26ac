//! One thing that was looked at.

use clap::ValueEnum;
use serde::Serialize;

/// What somebody wants to do with Tercet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// make demo: everything as processes, no Docker
    Demo,
    /// make test: also a real Kafka
    Tests,
    /// docker compose up
    Compose,
    /// The system that runs now
    Running,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Level {
    /// As it should be.
    Ok,
    /// It works, or may not be needed.
    Warning,
    /// It will not work.
    Problem,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Who needs it.
    pub way: Way,
    /// What was looked at.
    pub name: String,
    /// How it is.
    pub level: Level,
    /// What was found.
    pub found: String,
    /// What to do; empty if nothing.
    pub remedy: String,
}

impl Check {
    /// As it should be.
    pub fn ok(way: Way, name: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            way,
            name: name.into(),
            level: Level::Ok,
            found: found.into(),
            remedy: String::new(),
        }
    }

    /// Worth a look.
    pub fn warning(
        way: Way,
        name: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Warning,
            remedy: remedy.into(),
            ..Self::ok(way, name, found)
        }
    }

    /// Wrong.
    pub fn problem(
        way: Way,
        name: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Problem,
            ..Self::warning(way, name, found, remedy)
        }
    }
}
