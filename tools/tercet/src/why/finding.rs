//! One cause that holds, with what shows it.

use serde::Serialize;

use super::cause::Cause;

/// A fact and where it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// What is so.
    pub fact: String,
    /// Who says so.
    pub source: String,
}

impl Evidence {
    /// One fact.
    pub fn new(fact: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            fact: fact.into(),
            source: source.into(),
        }
    }
}

/// A cause that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub cause: Cause,
    /// One sentence.
    pub sentence: String,
    /// What shows it.
    pub evidence: Vec<Evidence>,
    /// What happens next by itself, and when.
    pub next: Vec<String>,
    /// What a person can do.
    pub advice: Vec<String>,
}

impl Finding {
    /// A cause and its sentence.
    pub fn new(cause: Cause, sentence: impl Into<String>) -> Self {
        Self {
            cause,
            sentence: sentence.into(),
            evidence: Vec::new(),
            next: Vec::new(),
            advice: Vec::new(),
        }
    }

    /// Adds what shows it.
    #[must_use]
    pub fn shown_by(mut self, fact: impl Into<String>, source: impl Into<String>) -> Self {
        self.evidence.push(Evidence::new(fact, source));
        self
    }

    /// Adds what happens next.
    #[must_use]
    pub fn next(mut self, what: impl Into<String>) -> Self {
        self.next.push(what.into());
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn advise(mut self, what: impl Into<String>) -> Self {
        self.advice.push(what.into());
        self
    }
}
