use std::time::Duration;

use http::{HeaderMap, Response};
use http_body_util::BodyExt;
use tercet_grpc_status::{Code, ErrorDomain, Problem};
use tonic::Status;
use tonic::body::Body;

use super::in_flight::UnderWay;
use super::{DEADLINE_EXCEEDED, INTERNAL, OVERLOADED};

const COME_BACK_AFTER: Duration = Duration::from_secs(1);

pub(super) fn overloaded(domain: ErrorDomain) -> Response<Body> {
    let message = "too many calls are at work";
    Problem::new(domain, Code::ResourceExhausted, OVERLOADED, message)
        .retry_after(COME_BACK_AFTER)
        .into_status()
        .into_http()
}

pub(super) fn too_late(domain: ErrorDomain) -> Response<Body> {
    let message = "the deadline passed; whether the call took effect is not known";
    Problem::new(domain, Code::DeadlineExceeded, DEADLINE_EXCEEDED, message)
        .into_status()
        .into_http()
}

pub(super) fn panicked(domain: ErrorDomain) -> Response<Body> {
    Problem::new(domain, Code::Internal, INTERNAL, "internal error")
        .into_status()
        .into_http()
}

/// The call's code. An answer that fails does so in its head; one that begins well counts as OK,
/// though a stream may fail later.
pub(super) fn code(headers: &HeaderMap) -> Code {
    Status::from_header_map(headers).map_or(Code::Ok, |status| status.code())
}

/// Counts the call as under way until its body has been sent or dropped.
pub(super) fn hold(response: Response<Body>, under_way: UnderWay) -> Response<Body> {
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _until_the_body_is_dropped = &under_way;
            frame
        }))
    })
}

/// As the specification names codes in `rpc.status_code`.
pub(super) fn name(code: Code) -> &'static str {
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
