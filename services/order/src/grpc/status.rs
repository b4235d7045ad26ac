//! App errors → gRPC status with google.rpc details. One match, nothing internal in the answer.

use std::time::Duration;

use tercet_contracts::{ERROR_DOMAIN, ERROR_PAGES};
use tercet_grpc_status::{Code, ErrorDomain, FieldViolations, Problem, Reason};
use tercet_service_kit::server::INTERNAL;
use tonic::Status;

use crate::app::Error;

/// Who defines our reasons.
pub const DOMAIN: ErrorDomain = ErrorDomain::new(ERROR_DOMAIN).with_help_pages(ERROR_PAGES);

pub const INVALID_REQUEST: Reason = Reason::new("INVALID_REQUEST");
pub const ORDER_NOT_FOUND: Reason = Reason::new("ORDER_NOT_FOUND");
pub const SAGA_NOT_FOUND: Reason = Reason::new("SAGA_NOT_FOUND");
pub const IDEMPOTENCY_KEY_REUSED: Reason = Reason::new("IDEMPOTENCY_KEY_REUSED");
pub const IDEMPOTENCY_KEY_IN_FLIGHT: Reason = Reason::new("IDEMPOTENCY_KEY_IN_FLIGHT");
pub const ORDER_CONFIRMING: Reason = Reason::new("ORDER_CONFIRMING");
pub const ORDER_NOT_CANCELLABLE: Reason = Reason::new("ORDER_NOT_CANCELLABLE");
pub const TOO_MANY_WATCHERS: Reason = Reason::new("TOO_MANY_WATCHERS");
pub const WATCH_INTERRUPTED: Reason = Reason::new("WATCH_INTERRUPTED");
pub const TEMPORARILY_UNAVAILABLE: Reason = Reason::new("TEMPORARILY_UNAVAILABLE");

/// Committing stock is one transaction: what stands in the way is over in a moment.
const SOON: Duration = Duration::from_millis(500);
const LATER: Duration = Duration::from_secs(1);
const AFTER_OTHERS: Duration = Duration::from_secs(5);

/// What the caller hears. An error that tells the caller nothing is logged here, once.
pub fn from(error: Error) -> Status {
    let problem = match error {
        Error::Invalid(found) => return invalid(found),
        Error::OrderNotFound(id) => {
            let message = format!("there is no order {id}");
            problem(Code::NotFound, ORDER_NOT_FOUND, message)
                .with("order_id", id.to_string())
                .resource("Order", id.to_string())
        }
        Error::SagaNotFound(id) => {
            let message = format!("there is no saga {id}, and no order of that id has one");
            problem(Code::NotFound, SAGA_NOT_FOUND, message)
                .with("saga_id", id.to_string())
                .resource("Saga", id.to_string())
        }
        Error::KeyReused => problem(
            Code::InvalidArgument,
            IDEMPOTENCY_KEY_REUSED,
            "the idempotency-key was used for another request",
        )
        .bad_field("idempotency-key", "was used for another request"),
        Error::KeyInFlight => problem(
            Code::Aborted,
            IDEMPOTENCY_KEY_IN_FLIGHT,
            "another call with this idempotency-key is at work; send it again",
        )
        .retry_after(LATER),
        Error::Confirming(id) => problem(
            Code::Aborted,
            ORDER_CONFIRMING,
            format!(
                "order {id} is being confirmed: whether it can be cancelled is known in a moment"
            ),
        )
        .with("order_id", id.to_string())
        .retry_after(SOON),
        Error::NotCancellable(id) => problem(
            Code::FailedPrecondition,
            ORDER_NOT_CANCELLABLE,
            format!("order {id} is CONFIRMED and can no longer be cancelled"),
        )
        .with("order_id", id.to_string())
        .precondition("STATE", format!("orders/{id}"), "the order is CONFIRMED"),
        Error::TooManyWatchers => problem(
            Code::ResourceExhausted,
            TOO_MANY_WATCHERS,
            "too many streams are open; ask by GetOrder meanwhile",
        )
        .retry_after(AFTER_OTHERS),
        Error::WatchInterrupted => problem(
            Code::Unavailable,
            WATCH_INTERRUPTED,
            "the stream ended before the order did; call again",
        )
        .retry_after(SOON),
        Error::Unavailable(source) => {
            tracing::warn!(error = chain(&*source), "a call cannot be answered now");
            problem(
                Code::Unavailable,
                TEMPORARILY_UNAVAILABLE,
                "cannot be answered now; call again",
            )
            .retry_after(LATER)
        }
        Error::Internal(source) => {
            tracing::error!(error = chain(&*source), "a call failed by a fault of ours");
            problem(Code::Internal, INTERNAL, "internal error")
        }
    };
    problem.into_status()
}

/// `InvalidArgument` with every bad field.
pub fn invalid(found: Vec<crate::domain::Violation>) -> Status {
    let mut violations = FieldViolations::default();
    for violation in found {
        violations.add(violation.field, violation.description);
    }
    violations
        .into_problem(DOMAIN, INVALID_REQUEST)
        .into_status()
}

fn problem(code: Code, reason: Reason, message: impl Into<String>) -> Problem {
    Problem::new(DOMAIN, code, reason, message)
}

/// An error with everything beneath it, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |source| source.source())
        .fold(error.to_string(), |text, source| {
            format!("{text}: {source}")
        })
}
