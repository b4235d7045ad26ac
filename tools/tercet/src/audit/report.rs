//! What the auditor has to say.

use std::{fmt::Write as _, time::Duration};

use serde::Serialize;

use crate::{
    audit::{Evidence, Finding},
    screen::Ink,
};

/// Findings shown of one invariant; the JSON output has them all.
const SHOWN_MAX: usize = 10;

/// What came of one invariant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Its name.
    pub invariant: &'static str,
    /// What it promises.
    pub promise: &'static str,
    /// Where the promise is broken.
    pub findings: Vec<Finding>,
    /// Why it could not be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Scope {
    /// Orders.
    pub orders: usize,
    /// Orders whose saga still runs.
    pub in_flight: usize,
    /// Payments.
    pub payments: usize,
    /// Reservations.
    pub reservations: usize,
    /// Events in the three outboxes.
    pub events: usize,
    /// How young may be what is not judged.
    pub settle_seconds: u64,
}

/// What the auditor has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether every promise that was judged is kept.
    pub clean: bool,
    /// What was looked at.
    pub scope: Scope,
    /// One for each invariant.
    pub verdicts: Vec<Verdict>,
}

impl Report {
    pub(super) fn new(evidence: &Evidence, settle: Duration, verdicts: Vec<Verdict>) -> Self {
        Self {
            clean: verdicts.iter().all(|verdict| verdict.findings.is_empty()),
            scope: Scope {
                orders: evidence.orders.len(),
                in_flight: evidence
                    .sagas
                    .values()
                    .filter(|saga| saga.is_open())
                    .count(),
                payments: evidence.payments.len(),
                reservations: evidence.reservations.len(),
                events: evidence
                    .outboxes
                    .iter()
                    .map(|outbox| outbox.events.len())
                    .sum(),
                settle_seconds: settle.as_secs(),
            },
            verdicts,
        }
    }

    /// All findings with the name of the broken invariant.
    pub fn findings(&self) -> impl Iterator<Item = (&'static str, &Finding)> {
        self.verdicts
            .iter()
            .flat_map(|verdict| verdict.findings.iter().map(|f| (verdict.invariant, f)))
    }

    /// As text for people.
    pub fn draw(&self, ink: Ink) -> String {
        let mut text = String::new();
        for verdict in &self.verdicts {
            let mark = match (&verdict.skipped, verdict.findings.is_empty()) {
                (Some(_), _) => ink.dim("–"),
                (None, true) => ink.good("✓"),
                (None, false) => ink.bad("✗"),
            };
            let name = format!("{:<30}", verdict.invariant);
            let said = verdict.skipped.as_ref().map_or_else(
                || verdict.promise.to_owned(),
                |why| format!("skipped: {why}"),
            );
            let _ = writeln!(text, "{mark} {name} {}", ink.dim(&said));
            for finding in verdict.findings.iter().take(SHOWN_MAX) {
                let _ = writeln!(text, "    {}", ink.bad(&finding.sentence));
                let _ = writeln!(text, "    {}", ink.dim(&finding.place()));
            }
            let hidden = verdict.findings.len().saturating_sub(SHOWN_MAX);
            if hidden > 0 {
                let _ = writeln!(text, "    and {hidden} more: --output json shows all");
            }
        }
        let _ = write!(text, "\n{}", self.summary(ink));
        text
    }

    /// The last line.
    pub fn summary(&self, ink: Ink) -> String {
        let Scope {
            orders,
            in_flight,
            payments,
            reservations,
            events,
            ..
        } = &self.scope;
        let seen = format!(
            "{orders} orders ({in_flight} in flight), {payments} payments, \
             {reservations} reservations, {events} events"
        );
        let broken = self.findings().count();
        if self.clean {
            format!("{} over {seen}", ink.good("everything adds up"))
        } else {
            format!("{} over {seen}", ink.bad(&format!("{broken} findings")))
        }
    }
}
