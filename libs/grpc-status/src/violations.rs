use std::fmt;

use tonic::Code;

use crate::{ErrorDomain, Problem, Reason};

/// One wrong field of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The path to it: `lines[0].quantity`.
    pub field: String,
    /// What it must be.
    pub description: String,
}

/// Collects every wrong field of a request, so that the caller hears of all at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldViolations(Vec<Violation>);

impl FieldViolations {
    /// Records `field` unless `holds`; returns `holds`.
    pub fn check(
        &mut self,
        holds: bool,
        field: impl Into<String>,
        description: impl Into<String>,
    ) -> bool {
        if !holds {
            self.add(field, description);
        }
        holds
    }

    /// Records `field`.
    pub fn add(&mut self, field: impl Into<String>, description: impl Into<String>) {
        self.0.push(Violation {
            field: field.into(),
            description: description.into(),
        });
    }

    /// The value, or `None` with its error recorded under `field`: for parsing newtypes.
    pub fn take<T, E: fmt::Display>(
        &mut self,
        field: impl Into<String>,
        parsed: Result<T, E>,
    ) -> Option<T> {
        parsed
            .map_err(|error| self.add(field, error.to_string()))
            .ok()
    }

    /// Nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was recorded, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.0.iter()
    }

    /// Itself as the error, if anything was recorded.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    /// `InvalidArgument` with a `BadRequest` that lists every field.
    pub fn into_problem(self, domain: ErrorDomain, reason: Reason) -> Problem {
        let problem = Problem::new(domain, Code::InvalidArgument, reason, self.to_string());
        self.0.into_iter().fold(problem, |problem, violation| {
            problem.bad_field(violation.field, violation.description)
        })
    }
}

impl fmt::Display for FieldViolations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(
                f,
                "{separator}{}: {}",
                violation.field, violation.description
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for FieldViolations {}
