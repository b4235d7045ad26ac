//! Why a command ended badly: what happened, where, and what to do next. Each kind has its exit code.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::json;

use crate::screen::Ink;

/// How the process ends. The numbers are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u8)]
pub enum Exit {
    /// Something went wrong, or a check found a violation.
    Failed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The thing asked for does not exist.
    NotFound = 3,
    /// A service understood and said no.
    Refused = 4,
    /// A service did not answer.
    Unreachable = 5,
}

/// Why a command ended badly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// One sentence.
    pub what: String,
    /// The parts of it, for example each bad field and what is wrong with it.
    pub details: Vec<(String, String)>,
    /// Who said so, or what was tried.
    pub place: Option<String>,
    /// What to do next, the likeliest first.
    pub advice: Vec<String>,
}

impl Failure {
    /// A failure of one sentence.
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self {
            exit,
            what: what.into(),
            details: Vec::new(),
            place: None,
            advice: Vec::new(),
        }
    }

    /// A mistake on the command line that clap cannot see.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// Says where it happened.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// As text for people.
    pub fn render(&self, ink: Ink) -> String {
        let mut text = format!("{} {}", ink.bad("error:"), self.what);
        let widest = self
            .details
            .iter()
            .map(|(name, _)| name.chars().count())
            .max();
        for (name, why) in &self.details {
            let width = widest.unwrap_or_default();
            let _ = write!(text, "\n       {name:width$}  {why}");
        }
        if let Some(place) = &self.place {
            let _ = write!(text, "\n{} {place}", ink.dim("where:"));
        }
        for advice in &self.advice {
            let _ = write!(text, "\n {} {advice}", ink.dim("next:"));
        }
        text
    }

    /// As one JSON object for programs.
    pub fn to_json(&self) -> serde_json::Value {
        let details: Vec<_> = self
            .details
            .iter()
            .map(|(name, why)| json!({ "name": name, "description": why }))
            .collect();
        json!({ "error": {
            "kind": self.exit,
            "message": self.what,
            "details": details,
            "where": self.place,
            "advice": self.advice,
        }})
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let mut causes = error.chain().map(ToString::to_string);
        let mut failure = Self::new(Exit::Failed, causes.next().unwrap_or_default());
        failure.details = causes.map(|cause| ("because".to_owned(), cause)).collect();
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_where_and_what_to_do() {
        let mut failure = Failure::new(Exit::Refused, "the basket cannot be ordered")
            .at("order-service, PlaceOrder")
            .advise("correct the fields and send again");
        failure.details = vec![
            ("currency".into(), "must be EUR".into()),
            ("lines[0].quantity".into(), "must be 1 or more".into()),
        ];
        assert_eq!(
            failure.render(Ink::PLAIN),
            "error: the basket cannot be ordered\n       \
             currency           must be EUR\n       \
             lines[0].quantity  must be 1 or more\n\
             where: order-service, PlaceOrder\n \
             next: correct the fields and send again"
        );
    }

    #[test]
    fn programs_get_the_same_as_json() {
        let failure = Failure::new(Exit::NotFound, "no such order").advise("tercet order list");
        assert_eq!(failure.to_json()["error"]["kind"], "NOT_FOUND");
        assert_eq!(failure.to_json()["error"]["advice"][0], "tercet order list");
    }

    #[test]
    fn a_chain_of_causes_is_kept() {
        let error = anyhow::anyhow!("connection refused").context("cannot open the order database");
        let failure = Failure::from(error);
        assert_eq!(failure.what, "cannot open the order database");
        assert_eq!(
            failure.details,
            [("because".into(), "connection refused".into())]
        );
    }
}
