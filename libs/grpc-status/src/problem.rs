use std::collections::HashMap;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::{ErrorDomain, Reason};

/// An error on its way to the caller. Nothing internal belongs in it.
#[derive(Debug, Clone)]
#[must_use]
pub struct Problem {
    domain: ErrorDomain,
    code: Code,
    reason: Reason,
    message: String,
    metadata: HashMap<String, String>,
    details: ErrorDetails,
}

impl Problem {
    /// The least every error says.
    pub fn new(
        domain: ErrorDomain,
        code: Code,
        reason: Reason,
        message: impl Into<String>,
    ) -> Self {
        let mut details = ErrorDetails::new();
        if let Some(page) = domain.help_page(reason) {
            details.add_help_link(format!("What {reason} means and what to do"), page);
        }
        Self {
            domain,
            code,
            reason,
            message: message.into(),
            metadata: HashMap::new(),
            details,
        }
    }

    /// A value the message names, for programs: AIP-193 wants every variable of the message here.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// The field `field` of the request is wrong.
    pub fn bad_field(mut self, field: impl Into<String>, description: impl Into<String>) -> Self {
        self.details.add_bad_request_violation(field, description);
        self
    }

    /// The thing this is about: `("Order", "0198…")`.
    pub fn resource(mut self, kind: impl Into<String>, name: impl Into<String>) -> Self {
        self.details.set_resource_info(kind, name, "", "");
        self
    }

    /// What would have to be true first: `("STATE", "orders/0198…", "the order is CONFIRMED")`.
    pub fn precondition(
        mut self,
        kind: impl Into<String>,
        subject: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        self.details
            .add_precondition_failure_violation(kind, subject, description);
        self
    }

    /// When it makes sense to call again.
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.details.set_retry_info(Some(delay));
        self
    }

    /// A page that says what to do, beside the domain's own page of the reason.
    pub fn help(mut self, description: impl Into<String>, url: impl Into<String>) -> Self {
        self.details.add_help_link(description, url);
        self
    }

    /// The reason this names.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The status to answer with.
    pub fn into_status(mut self) -> Status {
        self.details
            .set_error_info(self.reason.as_str(), self.domain.name(), self.metadata);
        Status::with_error_details(self.code, self.message, self.details)
    }
}

impl From<Problem> for Status {
    fn from(problem: Problem) -> Self {
        problem.into_status()
    }
}
