//! What a server writes is what a client reads.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use tercet_grpc_status::{
    Code, ErrorDomain, FieldViolations, Precondition, Problem, Reason, Resource, decode,
};
use tonic::Status;

const DOMAIN: ErrorDomain =
    ErrorDomain::new("tercet.dev").with_help_pages("https://tercet.dev/errors/");
const NOT_CANCELLABLE: Reason = Reason::new("ORDER_NOT_CANCELLABLE");
const INVALID_REQUEST: Reason = Reason::new("INVALID_REQUEST");

#[test]
fn every_detail_survives_the_wire() {
    let sent = Problem::new(
        DOMAIN,
        Code::FailedPrecondition,
        NOT_CANCELLABLE,
        "order 7 is done",
    )
    .with("order_id", "7")
    .resource("Order", "7")
    .precondition("STATE", "orders/7", "the order is CONFIRMED")
    .retry_after(Duration::from_millis(1500))
    .help("how orders end", "https://tercet.dev/orders")
    .into_status();

    // What crosses the wire is the trailers, not the value.
    let received = Status::from_header_map(&headers(&sent)).unwrap();
    let decoded = decode(&received);

    assert_eq!(decoded.code, Code::FailedPrecondition);
    assert_eq!(decoded.message, "order 7 is done");
    assert_eq!(decoded.reason, "ORDER_NOT_CANCELLABLE");
    assert_eq!(decoded.domain, "tercet.dev");
    assert_eq!(
        decoded.metadata.get("order_id").map(String::as_str),
        Some("7")
    );
    assert_eq!(decoded.retry_after, Some(Duration::from_millis(1500)));
    assert_eq!(
        decoded.resource,
        Some(Resource {
            kind: "Order".into(),
            name: "7".into()
        })
    );
    let state = Precondition {
        kind: "STATE".into(),
        subject: "orders/7".into(),
        description: "the order is CONFIRMED".into(),
    };
    assert_eq!(decoded.preconditions, [state]);
    assert_eq!(
        decoded.help,
        [
            "https://tercet.dev/errors/ORDER_NOT_CANCELLABLE.md",
            "https://tercet.dev/orders"
        ]
    );
    assert!(!decoded.is_transient());
}

#[test]
fn every_bad_field_is_listed_at_once() {
    let mut violations = FieldViolations::default();
    violations.check(true, "customer_id", "must be given");
    violations.check(false, "currency", "must be an ISO 4217 code");
    let quantity = violations.take("lines[0].quantity", "x".parse::<u32>());
    assert_eq!(quantity, None);

    let status = violations
        .into_result()
        .unwrap_err()
        .into_problem(DOMAIN, INVALID_REQUEST)
        .into_status();
    let fields: Vec<_> = decode(&status)
        .violations
        .into_iter()
        .map(|v| v.field)
        .collect();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(fields, ["currency", "lines[0].quantity"]);
    assert!(
        status.message().contains("must be an ISO 4217 code"),
        "{}",
        status.message()
    );
}

#[test]
fn an_error_without_details_can_be_read_too() {
    let decoded = decode(&Status::unavailable("a proxy said so"));
    assert_eq!(decoded.reason, "");
    assert!(decoded.is_transient());
}

fn headers(status: &Status) -> http::HeaderMap {
    let mut headers = http::HeaderMap::new();
    status.add_header(&mut headers).unwrap();
    headers
}
