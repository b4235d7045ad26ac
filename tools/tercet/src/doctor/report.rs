//! All checks, for people and for programs.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Check, Level, Way};
use crate::screen::Ink;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How many problems there are.
    pub problems: usize,
    /// How many warnings.
    pub warnings: usize,
    /// Everything that was looked at.
    pub checks: Vec<Check>,
}

impl Report {
    pub(super) fn new(checks: Vec<Check>) -> Self {
        let count = |level| checks.iter().filter(|check| check.level == level).count();
        Self {
            problems: count(Level::Problem),
            warnings: count(Level::Warning),
            checks,
        }
    }

    /// For people: a line each.
    pub fn draw(&self, ink: Ink) -> String {
        let mut text = String::new();
        let widths = self.checks.iter().map(|check| check.name.chars().count());
        let width = widths.max().unwrap_or_default();
        for (way, heading) in [
            (Way::Demo, "make demo"),
            (Way::Tests, "make test, beside what the demo needs"),
            (Way::Compose, "docker compose up"),
            (Way::Running, "the system that runs now"),
        ] {
            let mut checks = self
                .checks
                .iter()
                .filter(|check| check.way == way)
                .peekable();
            if checks.peek().is_some() {
                let _ = writeln!(text, "{}", ink.dim(heading));
            }
            for check in checks {
                let _ = writeln!(text, "  {}", line(check, width, ink));
            }
        }
        let _ = write!(text, "{}", self.summary(ink));
        text
    }

    fn summary(&self, ink: Ink) -> String {
        let warnings = match self.warnings {
            0 => String::new(),
            1 => ", 1 warning".to_owned(),
            count => format!(", {count} warnings"),
        };
        match self.problems {
            0 => format!("{}{warnings}", ink.good("no problem")),
            1 => format!("{}{warnings}", ink.bad("1 problem")),
            count => format!("{}{warnings}", ink.bad(&format!("{count} problems"))),
        }
    }
}

fn line(check: &Check, width: usize, ink: Ink) -> String {
    let level = match check.level {
        Level::Ok => ink.good("ok     "),
        Level::Warning => ink.warn("warning"),
        Level::Problem => ink.bad("problem"),
    };
    let Check {
        name,
        found,
        remedy,
        ..
    } = check;
    match remedy.as_str() {
        "" => format!("{level}  {name:width$}  {found}"),
        remedy => format!("{level}  {name:width$}  {found} → {remedy}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_each_by_the_way_that_needs_it() {
        let report = Report::new(vec![
            Check::ok(Way::Demo, "Rust", "1.95"),
            Check::problem(Way::Compose, "Docker", "not found", "install it"),
            Check::warning(Way::Demo, "disk", "little room", "make some"),
        ]);
        assert_eq!(
            report.draw(Ink::PLAIN),
            "make demo\n  ok       Rust    1.95\n  warning  disk    little room → make some\n\
             docker compose up\n  problem  Docker  not found → install it\n1 problem, 1 warning"
        );
        assert_eq!(report.problems, 1);
    }
}
