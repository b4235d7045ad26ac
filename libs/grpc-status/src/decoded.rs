use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::{Violation, is_transient};

/// An error as its caller reads it. Details that are missing or malformed are simply absent: a
/// proxy may have answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decoded {
    /// The gRPC code.
    pub code: Code,
    /// For people.
    pub message: String,
    /// `ErrorInfo.reason`; empty if the error carries none.
    pub reason: String,
    /// `ErrorInfo.domain`; empty if the error carries none.
    pub domain: String,
    /// `ErrorInfo.metadata`.
    pub metadata: BTreeMap<String, String>,
    /// When to call again.
    pub retry_after: Option<Duration>,
    /// Every wrong field.
    pub violations: Vec<Violation>,
    /// What this is about.
    pub resource: Option<Resource>,
    /// What would have to be true first.
    pub preconditions: Vec<Precondition>,
    /// Pages that help.
    pub help: Vec<String>,
}

/// The thing an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its kind: `Order`.
    pub kind: String,
    /// Its name or id.
    pub name: String,
}

/// A state that stands in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Precondition {
    /// A word for programs: `STATE`.
    pub kind: String,
    /// What it is about.
    pub subject: String,
    /// For people.
    pub description: String,
}

impl Decoded {
    /// The same call may succeed later, unchanged.
    pub fn is_transient(&self) -> bool {
        is_transient(self.code)
    }
}

/// Reads every detail this crate writes.
pub fn decode(status: &Status) -> Decoded {
    let details = status.get_error_details();
    let info = details
        .error_info()
        .cloned()
        .unwrap_or_else(|| tonic_types::ErrorInfo::new("", "", HashMap::new()));
    Decoded {
        code: status.code(),
        message: status.message().to_owned(),
        reason: info.reason,
        domain: info.domain,
        metadata: info.metadata.into_iter().collect(),
        retry_after: details.retry_info().and_then(|retry| retry.retry_delay),
        violations: details.bad_request().map_or_else(Vec::new, |bad| {
            let violation = |found: &tonic_types::FieldViolation| Violation {
                field: found.field.clone(),
                description: found.description.clone(),
            };
            bad.field_violations.iter().map(violation).collect()
        }),
        resource: details.resource_info().map(|resource| Resource {
            kind: resource.resource_type.clone(),
            name: resource.resource_name.clone(),
        }),
        preconditions: details
            .precondition_failure()
            .map_or_else(Vec::new, |failure| {
                let precondition = |found: &tonic_types::PreconditionViolation| Precondition {
                    kind: found.r#type.clone(),
                    subject: found.subject.clone(),
                    description: found.description.clone(),
                };
                failure.violations.iter().map(precondition).collect()
            }),
        help: details.help().map_or_else(Vec::new, |help| {
            help.links.iter().map(|link| link.url.clone()).collect()
        }),
    }
}
