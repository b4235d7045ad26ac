//! A gRPC status in words: what is wrong, who said so, what to do. Read from the google.rpc details.

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::failure::{Exit, Failure};

/// Explains `status`, the answer of `service` at `url` to `method`.
pub(super) fn explain(service: &str, url: &str, method: &str, status: &Status) -> Failure {
    let details = status.get_error_details();
    let reason = details.error_info().map(|info| info.reason.clone());
    let answer = match &reason {
        Some(reason) => format!("{} {reason}", code_name(status.code())),
        None => code_name(status.code()).to_owned(),
    };
    let exit = exit_for(status.code());
    let mut failure = Failure::new(exit, what(exit, service, status));
    failure.place = Some(format!("{service} at {url}, {method}: {answer}"));
    failure.details = parts(&details);
    failure.advice = advice(exit, service, &details);
    failure
}

/// Which exit code a gRPC code means.
fn exit_for(code: Code) -> Exit {
    match code {
        Code::NotFound => Exit::NotFound,
        Code::Unavailable | Code::DeadlineExceeded | Code::Cancelled => Exit::Unreachable,
        Code::InvalidArgument
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::Unauthenticated
        | Code::ResourceExhausted
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::OutOfRange => Exit::Refused,
        Code::Ok | Code::Unknown | Code::Unimplemented | Code::Internal | Code::DataLoss => {
            Exit::Failed
        }
    }
}

fn what(exit: Exit, service: &str, status: &Status) -> String {
    match (exit, status.message()) {
        (Exit::Unreachable, message) if status.get_details_error_info().is_none() => {
            format!("{service} did not answer: {message}")
        }
        (_, "") => format!("{service} gave no reason"),
        (_, message) => message.to_owned(),
    }
}

fn parts(details: &ErrorDetails) -> Vec<(String, String)> {
    let mut parts = Vec::new();
    if let Some(bad) = details.bad_request() {
        let fields = bad.field_violations.iter();
        parts.extend(fields.map(|v| (v.field.clone(), v.description.clone())));
    }
    if let Some(failed) = details.precondition_failure() {
        let violations = failed.violations.iter();
        parts.extend(violations.map(|v| (v.subject.clone(), v.description.clone())));
    }
    parts
}

fn advice(exit: Exit, service: &str, details: &ErrorDetails) -> Vec<String> {
    let mut advice = Vec::new();
    if let Some(delay) = details.retry_info().and_then(|info| info.retry_delay) {
        advice.push(format!(
            "send it again in {} s, under the same key",
            delay.as_secs_f64()
        ));
    } else if exit == Exit::Unreachable {
        advice.push(format!(
            "is {service} running, and is its URL right? Then send it again"
        ));
    }
    if let Some(help) = details.help() {
        let links = help.links.iter();
        advice.extend(links.map(|link| format!("read {}", link.url)));
    }
    advice
}

/// The code as google.rpc writes it.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, time::Duration};

    use super::*;

    fn failure(code: Code, message: &str, details: ErrorDetails) -> Failure {
        let status = Status::with_error_details(code, message, details);
        explain(
            "order-service",
            "http://127.0.0.1:50051",
            "PlaceOrder",
            &status,
        )
    }

    #[test]
    fn every_bad_field_is_told() {
        let mut details = ErrorDetails::new();
        details
            .set_error_info("INVALID_BASKET", "tercet.dev", HashMap::new())
            .add_bad_request_violation("currency", "must be EUR")
            .add_bad_request_violation("lines[0].quantity", "must be 1 or more");
        let failure = failure(
            Code::InvalidArgument,
            "the basket cannot be ordered",
            details,
        );
        assert_eq!(failure.exit, Exit::Refused);
        assert_eq!(failure.details.len(), 2);
        assert_eq!(
            failure.place.as_deref(),
            Some(
                "order-service at http://127.0.0.1:50051, PlaceOrder: \
                 INVALID_ARGUMENT INVALID_BASKET"
            )
        );
    }

    #[test]
    fn a_service_that_asks_for_patience_gets_it() {
        let mut details = ErrorDetails::new();
        details
            .set_error_info("ORDER_CONFIRMING", "tercet.dev", HashMap::new())
            .set_retry_info(Some(Duration::from_millis(500)))
            .add_help_link(
                "what it means",
                "https://tercet.dev/errors/ORDER_CONFIRMING",
            );
        let failure = failure(Code::Aborted, "the order is being confirmed", details);
        assert_eq!(
            failure.advice,
            [
                "send it again in 0.5 s, under the same key",
                "read https://tercet.dev/errors/ORDER_CONFIRMING"
            ]
        );
    }

    #[test]
    fn silence_is_not_a_refusal() {
        let failure = failure(Code::Unavailable, "tcp connect error", ErrorDetails::new());
        assert_eq!(failure.exit, Exit::Unreachable);
        assert_eq!(
            failure.what,
            "order-service did not answer: tcp connect error"
        );
        assert_eq!(failure.advice.len(), 1);
    }

    #[test]
    fn an_unknown_id_has_its_own_exit_code() {
        let failure = failure(Code::NotFound, "there is no order 7", ErrorDetails::new());
        assert_eq!(failure.exit, Exit::NotFound);
    }
}
