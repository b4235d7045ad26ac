use tonic::Code;

/// The same call may succeed later, unchanged, and may also have succeeded already: send it again
/// only if it is idempotent.
///
/// `Unknown` is among them because it is what a client sees when a connection breaks half way.
pub fn is_transient(code: Code) -> bool {
    matches!(
        code,
        Code::Unavailable
            | Code::DeadlineExceeded
            | Code::Cancelled
            | Code::ResourceExhausted
            | Code::Aborted
            | Code::Unknown
    )
}

#[cfg(test)]
mod tests {
    use super::{Code, is_transient};

    #[test]
    fn what_the_caller_did_wrong_is_not_sent_again() {
        for code in [
            Code::InvalidArgument,
            Code::NotFound,
            Code::FailedPrecondition,
            Code::PermissionDenied,
            Code::Unauthenticated,
            Code::Unimplemented,
            Code::Internal,
        ] {
            assert!(!is_transient(code), "{code:?}");
        }
        assert!(is_transient(Code::Unavailable));
    }
}
