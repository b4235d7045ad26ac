//! What the demo has to say, for people and for programs.

use std::{fmt::Write as _, time::Duration};

use serde::Serialize;

use super::{check::Check, scenarios::Scenario};
use crate::{
    audit,
    screen::{Ink, seconds},
    timeline::Timeline,
    view::OrderView,
};

const WIDTH: usize = 100;

/// One scenario, told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Told {
    /// Its place, from 1.
    pub number: usize,
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// What happens in it.
    pub story: &'static str,
    /// Whether everything was as it must be.
    pub ok: bool,
    /// The order, if it came that far.
    pub order: Option<OrderView>,
    /// What must be so, and what is so.
    pub checks: Vec<Check>,
    /// Why it could not be played to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What happened.
    pub timeline: Timeline,
    /// How long it took.
    pub milliseconds: u128,
}

impl Told {
    pub(super) fn new(number: usize, scenario: &Scenario, took: Duration) -> Self {
        Self {
            number,
            name: scenario.name,
            title: scenario.title,
            story: scenario.story,
            ok: false,
            order: None,
            checks: Vec::new(),
            error: None,
            timeline: Timeline::default(),
            milliseconds: took.as_millis(),
        }
    }

    pub(super) fn judged(mut self) -> Self {
        self.ok = self.error.is_none() && self.checks.iter().all(|check| check.holds);
        self
    }

    fn draw(&self, ink: Ink, text: &mut String) {
        let heading = format!("{}  {}", self.number, self.title);
        let _ = writeln!(text, "{}", ink.bold(&heading));
        for line in crate::timeline::wrap(self.story, WIDTH - 3) {
            let _ = writeln!(text, "   {}", ink.dim(&line));
        }
        if let Some(order) = &self.order {
            let _ = writeln!(text, "   {} {}", ink.dim("order"), order.order_id);
        }
        if !self.timeline.moments().is_empty() {
            let _ = writeln!(text, "{}", self.timeline.draw(ink, WIDTH));
        }
        for check in &self.checks {
            let _ = writeln!(text, "   {}", check.draw(ink));
        }
        if let Some(error) = &self.error {
            let _ = writeln!(text, "   {} {}", ink.bad("✗"), ink.bad(error));
        }
    }
}

/// Where everything listens, and what it writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Addresses {
    /// `host:port` of each process's gRPC or HTTP port.
    pub listen: std::collections::BTreeMap<String, String>,
    /// Kafka.
    pub brokers: String,
    /// The first part of the topics' names.
    pub topic_prefix: String,
    /// A log for each process.
    pub logs: String,
}

/// What the demo has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether every scenario ended as it must and the audit found nothing.
    pub ok: bool,
    /// One for each scenario.
    pub scenarios: Vec<Told>,
    /// What the auditor says of all of them together; missing if it could not read everything.
    pub audit: Option<audit::Report>,
    /// Why there is no audit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_error: Option<String>,
    /// Where everything is or was.
    pub stack: Addresses,
}

impl Report {
    pub(super) fn new(
        scenarios: Vec<Told>,
        audit: anyhow::Result<audit::Report>,
        stack: Addresses,
    ) -> Self {
        let (audit, audit_error) = match audit {
            Ok(report) => (Some(report), None),
            Err(error) => (None, Some(format!("{error:#}"))),
        };
        let clean = audit.as_ref().is_some_and(|report| report.clean);
        Self {
            ok: clean && scenarios.iter().all(|told| told.ok),
            scenarios,
            audit,
            audit_error,
            stack,
        }
    }

    /// As text for people.
    pub fn draw(&self, ink: Ink) -> String {
        let mut text = String::new();
        for told in &self.scenarios {
            told.draw(ink, &mut text);
            text.push('\n');
        }
        let _ = writeln!(text, "{}", ink.bold("Audit"));
        match (&self.audit, &self.audit_error) {
            (Some(report), _) => text.push_str(&report.draw(ink)),
            (None, why) => {
                let why = why.as_deref().unwrap_or_default();
                let _ = write!(text, "{} {}", ink.bad("✗"), ink.bad(why));
            }
        }
        let _ = write!(text, "\n\n{}", self.summary(ink));
        text
    }

    /// A line for each scenario: what it showed, whether it did, how long it took.
    fn summary(&self, ink: Ink) -> String {
        let mut text = String::new();
        for told in &self.scenarios {
            let mark = if told.ok {
                ink.good("✓")
            } else {
                ink.bad("✗")
            };
            let took = u64::try_from(told.milliseconds).unwrap_or(u64::MAX);
            let took = seconds(Duration::from_millis(took));
            let _ = writeln!(
                text,
                "{mark} {} {:<70} {}",
                told.number,
                told.title,
                ink.dim(&took)
            );
        }
        text.trim_end().to_owned()
    }

    /// One sentence for each thing that is not as it must be.
    pub fn faults(&self) -> Vec<(String, String)> {
        let mut faults = Vec::new();
        for told in &self.scenarios {
            let name = format!("{} {}", told.number, told.name);
            let broken = told
                .checks
                .iter()
                .filter(|check| !check.holds)
                .map(|check| {
                    let Check {
                        what,
                        expected,
                        found,
                        ..
                    } = check;
                    format!("{what}: expected {expected}, found {found}")
                });
            let said = broken.chain(told.error.clone());
            faults.extend(said.map(|what| (name.clone(), what)));
        }
        let findings = self.audit.iter().flat_map(audit::Report::findings);
        faults.extend(findings.map(|(invariant, f)| (invariant.to_owned(), f.sentence.clone())));
        faults.extend(
            self.audit_error
                .clone()
                .map(|why| ("audit".to_owned(), why)),
        );
        faults
    }
}

#[cfg(test)]
mod tests {
    use time::{Duration as Span, OffsetDateTime, macros::datetime};

    use super::*;
    use crate::{
        demo::scenarios,
        screen::Tone,
        timeline::{Moment, Who},
    };

    const START: OffsetDateTime = datetime!(2026-11-30 10:00:00 UTC);

    fn moment(milliseconds: i64, who: Who, what: &str, tone: Tone) -> Moment {
        Moment::new(START + Span::milliseconds(milliseconds), who, what).toned(tone)
    }

    fn declined() -> Told {
        let mut told = Told::new(2, &scenarios::ALL[1], Duration::from_millis(412));
        told.order = Some(OrderView::from(tercet_contracts::order::v1::Order {
            order_id: "0193a1b2-0000-7000-8000-000000000002".to_owned(),
            ..Default::default()
        }));
        told.timeline = Timeline::new(vec![
            moment(
                0,
                Who::Order,
                "placed: 3 × TEA-BLACK-100G, 26.70 EUR",
                Tone::Plain,
            ),
            moment(0, Who::Saga, "▸ reserve-stock", Tone::Dim),
            moment(14, Who::Inventory, "holds 3 × TEA-BLACK-100G", Tone::Plain),
            moment(31, Who::Saga, "▸ charge-payment", Tone::Dim),
            moment(52, Who::Gateway, "confirm: declined", Tone::Plain),
            moment(54, Who::Payment, "declined: CARD_DECLINED", Tone::Bad),
            moment(71, Who::Saga, "turns back: CARD_DECLINED", Tone::Warn),
            moment(72, Who::Saga, "◂ undo reserve-stock", Tone::Dim),
            moment(90, Who::Inventory, "stock given back", Tone::Plain),
            moment(104, Who::Order, "cancelled: CARD_DECLINED", Tone::Bad),
        ]);
        told.checks = vec![
            Check::equal(
                "order",
                "CANCELLED, CARD_DECLINED",
                "CANCELLED, CARD_DECLINED",
            ),
            Check::one_of("payment", &["DECLINED"], "DECLINED"),
        ];
        told.judged()
    }

    fn lost() -> Told {
        let mut told = Told::new(6, &scenarios::ALL[5], Duration::from_secs(40));
        told.checks = vec![Check::equal("order", "CONFIRMED", "PENDING")];
        told.error = Some("not seen within 40 s: the order ends".to_owned());
        told.judged()
    }

    fn report(scenarios: Vec<Told>) -> Report {
        let evidence = audit::Evidence::default();
        let stack = Addresses {
            listen: std::collections::BTreeMap::new(),
            brokers: "127.0.0.1:19092".to_owned(),
            topic_prefix: "demo".to_owned(),
            logs: "/tmp/tercet-demo".to_owned(),
        };
        Report::new(
            scenarios,
            Ok(audit::judge(&evidence, Duration::ZERO)),
            stack,
        )
    }

    // Golden: UPDATE_GOLDEN=1 cargo test -p tercet-cli writes it anew.
    #[test]
    fn it_is_drawn_as_the_golden_file_shows() {
        let drawn = report(vec![declined(), lost()]).draw(Ink::PLAIN);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/demo/golden/report.txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, format!("{drawn}\n")).unwrap();
        }
        let golden = std::fs::read_to_string(path).unwrap();
        assert_eq!(drawn, golden.trim_end());
    }

    #[test]
    fn one_broken_scenario_breaks_the_demo_and_is_named() {
        assert!(report(vec![declined()]).ok);
        let report = report(vec![declined(), lost()]);
        assert!(!report.ok);
        assert_eq!(
            report.faults(),
            [
                (
                    "6 charge-lost".into(),
                    "order: expected CONFIRMED, found PENDING".into()
                ),
                (
                    "6 charge-lost".into(),
                    "not seen within 40 s: the order ends".into()
                ),
            ]
        );
    }

    #[test]
    fn the_json_names_are_the_contract() {
        let json = serde_json::to_value(report(vec![declined()])).unwrap();
        assert_eq!(json["ok"], true);
        assert_eq!(json["scenarios"][0]["name"], "declined");
        assert_eq!(json["scenarios"][0]["checks"][0]["holds"], true);
        assert_eq!(json["scenarios"][0]["timeline"][0]["who"], "order");
        assert_eq!(json["audit"]["clean"], true);
    }
}
