//! Use case error → status with `google.rpc` details. One exhaustive match; nothing internal leaks.

use std::time::Duration;

use tercet_contracts::{
    ERROR_DOMAIN, ERROR_PAGES,
    command::{self, HIGHEST_EPOCH},
};
use tercet_grpc_status::{Code, ErrorDomain, FieldViolations, Problem, Reason};
use tercet_service_kit::server::INTERNAL;
use tonic::Status;

use crate::{app::Error, store::StoreError};

/// Who defines the reasons.
pub const ERRORS: ErrorDomain = ErrorDomain::new(ERROR_DOMAIN).with_help_pages(ERROR_PAGES);

const INVALID_REQUEST: Reason = Reason::new("INVALID_REQUEST");
const STALE_EPOCH: Reason = Reason::new(command::STALE_EPOCH);
const STEP_ALREADY_UNDONE: Reason = Reason::new(command::STEP_ALREADY_UNDONE);
const DEADLINE_REQUIRED: Reason = Reason::new("DEADLINE_REQUIRED");
const PAYMENT_NOT_FOUND: Reason = Reason::new("PAYMENT_NOT_FOUND");
const PAYMENT_ID_REUSED: Reason = Reason::new("PAYMENT_ID_REUSED");
const REFUND_IN_PROGRESS: Reason = Reason::new("REFUND_IN_PROGRESS");
const TEMPORARILY_UNAVAILABLE: Reason = Reason::new("TEMPORARILY_UNAVAILABLE");

const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Every bad field at once.
pub fn bad_request(violations: FieldViolations) -> Status {
    violations.into_problem(ERRORS, INVALID_REQUEST).into()
}

/// A command without a deadline would be worked on for nobody.
pub fn deadline_required() -> Status {
    let message = "a command must carry a deadline (grpc-timeout)";
    Problem::new(ERRORS, Code::InvalidArgument, DEADLINE_REQUIRED, message).into()
}

pub fn from_error(error: &Error) -> Status {
    match error {
        Error::Store(StoreError::PaymentExists(id)) => Problem::new(
            ERRORS,
            Code::AlreadyExists,
            PAYMENT_ID_REUSED,
            "the payment's id was used by another saga",
        )
        .resource("Payment", id.to_string())
        .with("payment_id", id.to_string())
        .into(),
        Error::Store(_) | Error::Aborted(_) if error.is_transient() => unavailable(error),
        Error::Store(_) | Error::Aborted(_) => internal(error),
        Error::AlreadyUndone => refused(STEP_ALREADY_UNDONE, error)
            .precondition("STEP", "step", "it was undone before this command came")
            .into(),
        Error::StaleEpoch { highest } => refused(STALE_EPOCH, error)
            .with(HIGHEST_EPOCH, highest.to_string())
            .precondition("EPOCH", "saga", "another orchestrator took it over")
            .into(),
        Error::PaymentNotFound(id) => {
            Problem::new(ERRORS, Code::NotFound, PAYMENT_NOT_FOUND, error.to_string())
                .resource("Payment", id.to_string())
                .with("payment_id", id.to_string())
                .into()
        }
        Error::RefundInProgress(id) => {
            Problem::new(ERRORS, Code::Aborted, REFUND_IN_PROGRESS, error.to_string())
                .with("payment_id", id.to_string())
                .retry_after(RETRY_AFTER)
                .into()
        }
    }
}

fn refused(reason: Reason, error: &Error) -> Problem {
    Problem::new(ERRORS, Code::FailedPrecondition, reason, error.to_string())
}

fn unavailable(error: &Error) -> Status {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "answered as unavailable"
    );
    Problem::new(
        ERRORS,
        Code::Unavailable,
        TEMPORARILY_UNAVAILABLE,
        "the service cannot answer now",
    )
    .retry_after(RETRY_AFTER)
    .into()
}

fn internal(error: &Error) -> Status {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "answered as internal"
    );
    Problem::new(
        ERRORS,
        Code::Internal,
        INTERNAL,
        "an error of this service; it is logged",
    )
    .into()
}
