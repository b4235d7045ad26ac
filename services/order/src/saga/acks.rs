//! What the answer to a command means. PURE.
//!
//! A gRPC error never proves that the command did not arrive; the worst that it can mean is decided
//! here, in one place.

use tercet_contracts::{
    ERROR_DOMAIN,
    command::{COMMAND_ID_HEADER, HIGHEST_EPOCH, SAGA_ID_HEADER, STALE_EPOCH, STEP_ALREADY_UNDONE},
    saga::v1 as pb,
};
use tercet_grpc_status::decode;
use tercet_saga_postgres::{Ack, OutcomeEvent, SendError};
use tercet_service_kit::client::is_connect_error;
use tonic::{Code, Status};
use uuid::Uuid;

/// An ack that cannot be read is no ack: the command is sent again.
pub(super) fn ack(ack: Option<pb::CommandAck>) -> Result<Ack, SendError> {
    let ack = ack.ok_or_else(|| SendError::NoAck("an answer without an ack".to_owned()))?;
    match (ack.state(), ack.decided) {
        (pb::command_ack::State::Accepted, _) => Ok(Ack::Accepted),
        (pb::command_ack::State::InProgress, _) => Ok(Ack::InProgress),
        (pb::command_ack::State::Decided, Some(decided)) => {
            Ok(Ack::Decided(outcome(decided).map_err(SendError::NoAck)?))
        }
        (state, _) => Err(SendError::NoAck(format!(
            "an ack in state {} without an outcome",
            state.as_str_name()
        ))),
    }
}

/// The command is the one that the event itself names, never the one that was sent.
fn outcome(decided: pb::DecidedOutcome) -> Result<OutcomeEvent, String> {
    let header = |name: &str| {
        let value = decided.headers.get(name);
        value.ok_or_else(|| format!("a decided outcome without {name}"))
    };
    let id = |name: &str, text: &str| {
        Uuid::try_parse(text).map_err(|_| format!("a decided outcome whose {name} is no UUID"))
    };
    Ok(OutcomeEvent {
        event_id: id("event_id", &decided.event_id)?,
        saga_id: id(SAGA_ID_HEADER, header(SAGA_ID_HEADER)?)?,
        command_id: header(COMMAND_ID_HEADER)?.clone(),
        event_type: decided.event_type,
        payload: decided.payload.into_bytes(),
        headers: decided.headers.into_iter().collect(),
    })
}

pub(super) fn error(status: &Status) -> SendError {
    let decoded = decode(status);
    let told = format!(
        "{:?} {} {}",
        status.code(),
        decoded.reason,
        status.message()
    );
    if is_connect_error(status) {
        return SendError::CannotConnect(told);
    }
    match (status.code(), decoded.reason.as_str()) {
        (
            Code::InvalidArgument
            | Code::Unimplemented
            | Code::PermissionDenied
            | Code::Unauthenticated,
            _,
        ) => SendError::Rejected(told),
        (Code::FailedPrecondition, reason) if decoded.domain == ERROR_DOMAIN => {
            let highest = decoded.metadata.get(HIGHEST_EPOCH);
            match (reason, highest.and_then(|epoch| epoch.parse().ok())) {
                (STEP_ALREADY_UNDONE, _) => SendError::AlreadyUndone,
                (STALE_EPOCH, Some(highest)) => SendError::StaleEpoch { highest },
                _ => SendError::NoAck(told),
            }
        }
        _ => SendError::NoAck(told),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tercet_grpc_status::{ErrorDomain, Problem, Reason};

    use super::*;

    fn refusal(reason: Reason) -> Problem {
        Problem::new(
            ErrorDomain::new(ERROR_DOMAIN),
            Code::FailedPrecondition,
            reason,
            "no",
        )
    }

    #[test]
    fn errors_that_prove_nothing_are_sent_again() {
        for code in [
            Code::Unavailable,
            Code::DeadlineExceeded,
            Code::Cancelled,
            Code::ResourceExhausted,
            Code::Internal,
            Code::Unknown,
            Code::FailedPrecondition,
            Code::Aborted,
        ] {
            let error = error(&Status::new(code, "no"));
            assert!(matches!(error, SendError::NoAck(_)), "{code:?}: {error:?}");
        }
    }

    #[test]
    fn errors_that_sending_again_will_not_change_are_rejections() {
        for code in [
            Code::InvalidArgument,
            Code::Unimplemented,
            Code::PermissionDenied,
            Code::Unauthenticated,
        ] {
            let error = error(&Status::new(code, "no"));
            assert!(matches!(error, SendError::Rejected(_)), "{code:?}");
        }
    }

    #[test]
    fn you_may_not_is_told_apart() {
        let stale = refusal(Reason::new("STALE_EPOCH")).with("highest_epoch", "7");
        assert_eq!(
            error(&stale.into_status()),
            SendError::StaleEpoch { highest: 7 }
        );
        let undone = refusal(Reason::new("STEP_ALREADY_UNDONE"));
        assert_eq!(error(&undone.into_status()), SendError::AlreadyUndone);
    }

    #[test]
    fn a_decided_ack_names_its_own_command() {
        let headers = [
            ("ce_sagaid", "01937b1e-0000-7000-8000-000000000001"),
            ("ce_commandid", "that-one"),
        ];
        let headers: HashMap<_, _> = headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let decided = pb::DecidedOutcome {
            event_id: "01937b1e-0000-7000-8000-000000000002".to_owned(),
            event_type: "tercet.events.v1.StockReserved".to_owned(),
            payload: "{}".to_owned(),
            headers,
        };
        let mut answer = pb::CommandAck {
            state: pb::command_ack::State::Decided.into(),
            decided: Some(decided),
        };
        let Ok(Ack::Decided(outcome)) = ack(Some(answer.clone())) else {
            panic!("not decided");
        };
        assert_eq!(outcome.command_id, "that-one");

        answer.decided = None;
        assert!(matches!(ack(Some(answer)), Err(SendError::NoAck(_))));
        assert!(matches!(ack(None), Err(SendError::NoAck(_))));
    }
}
