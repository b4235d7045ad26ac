//! What is wrong with a setup, and the remedy: one line each.
//!
//! Four ways of using Tercet need different things ([`Way`]): the demo, the tests, Docker Compose, and a
//! system that runs now. Each check looks at one thing, has a time-out, and knows which way needs it.

mod check;
mod databases;
mod disk;
mod gateway;
mod kafka;
mod listeners;
mod ports;
mod programs;
mod report;
mod running;
mod schema;
mod versions;

use std::{path::PathBuf, time::Duration};

pub use check::{Check, Level, Way};
pub use report::Report;

use crate::why::Sources;

/// What to look at.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The ways that are asked about; none: whichever is used.
    pub ways: Vec<Way>,
    /// Where a running system is.
    pub places: Sources,
    /// The databases as their owners, in the order of order, payment, inventory: they may read which
    /// migrations were applied.
    pub migrate_urls: [String; 3],
    /// Where the services' gRPC is, in the same order, as `host:port`.
    pub grpc: [String; 3],
    /// Folders that must have room.
    pub folders: Vec<PathBuf>,
    /// Less free space than this, in MiB, is a problem; less than five times of it a warning.
    pub disk_min_mib: u64,
    /// Clocks further apart than this are a problem.
    pub skew_max: Duration,
}

/// Looks at everything that was asked for, all at once.
pub async fn doctor(setup: &Setup) -> Report {
    let wants = |way| setup.ways.is_empty() || setup.ways.contains(&way);
    let machine = async {
        let mut checks = Vec::new();
        if wants(Way::Demo) {
            checks.extend(programs::demo().await);
        }
        if wants(Way::Tests) {
            checks.extend(programs::tests().await);
        }
        if wants(Way::Compose) {
            checks.extend(programs::compose().await);
        }
        checks.extend(disk::checks(setup));
        checks
    };
    let system = Box::pin(running::look(setup));
    let (mut checks, system) = tokio::join!(machine, system);
    let is_up = system.is_up();
    if wants(Way::Compose) || wants(Way::Running) {
        checks.extend(ports::checks(setup, &system));
    }
    if wants(Way::Running) {
        checks.extend(system.checks(setup));
    }
    if setup.ways.is_empty() {
        soften(&mut checks, is_up);
    }
    Report::new(checks)
}

/// Nobody said which way is used: what only another way needs is no problem yet.
fn soften(checks: &mut [Check], is_up: bool) {
    for check in checks {
        let is_used = match check.way {
            Way::Demo => true,
            Way::Running => is_up,
            Way::Tests | Way::Compose => false,
        };
        if !is_used && check.level == Level::Problem {
            check.level = Level::Warning;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Level::{Problem, Warning},
        *,
    };

    #[test]
    fn what_another_way_needs_is_a_warning_until_that_way_is_asked_for() {
        let levels = |is_up| {
            let ways = [Way::Demo, Way::Tests, Way::Compose, Way::Running];
            let mut checks = ways.map(|way| Check::problem(way, "it", "is wrong", "mend it"));
            soften(&mut checks, is_up);
            checks.map(|check| check.level)
        };
        assert_eq!(levels(false), [Problem, Warning, Warning, Warning]);
        assert_eq!(levels(true), [Problem, Warning, Warning, Problem]);
    }
}
