//! What an outcome event says to the saga: ProtoJSON → [`Reply`].

use std::time::Duration;

use prost::Name;
use serde::de::DeserializeOwned;
use tercet_contracts::events::v1 as pb;
use tercet_saga_postgres::{BoxError, OutcomeEvent, ReadError};
use time::OffsetDateTime;

use super::place_order::Reply;
use crate::domain::{MissingLine, Sku};

type Reader = fn(&[u8]) -> Result<Reply, BoxError>;

/// Whether an event of this type can be an outcome of one of our commands.
pub fn is_known(event_type: &str) -> bool {
    reader(event_type).is_some()
}

/// What the outcome says.
pub fn read(outcome: &OutcomeEvent) -> Result<Reply, ReadError> {
    let failed = |source| ReadError {
        what: format!("{} cannot be read", outcome.event_type),
        source,
    };
    let reader = reader(&outcome.event_type).ok_or_else(|| failed(None))?;
    reader(&outcome.payload).map_err(|error| failed(Some(error)))
}

/// How long stock is held, if the outcome says that it is. Both times are of the participant's clock.
pub fn hold_granted(outcome: &OutcomeEvent) -> Option<Duration> {
    if outcome.event_type != pb::StockReserved::full_name() {
        return None;
    }
    let event: pb::StockReserved = decode(&outcome.payload).ok()?;
    let from = OffsetDateTime::try_from(event.occurred_at?).ok()?;
    let until = OffsetDateTime::try_from(event.expire_time?).ok()?;
    Duration::try_from(until - from).ok()
}

fn reader(event_type: &str) -> Option<Reader> {
    let readers: [(String, Reader); 11] = [
        (pb::StockReserved::full_name(), stock_reserved),
        (pb::ReservationRefused::full_name(), reservation_refused),
        (pb::ReservationCommitted::full_name(), committed),
        (pb::CommitRefused::full_name(), commit_refused),
        (pb::ReservationReleased::full_name(), released),
        (pb::PaymentCharged::full_name(), charged),
        (pb::PaymentDeclined::full_name(), declined),
        (pb::PaymentVoided::full_name(), voided),
        (pb::PaymentRefunded::full_name(), refunded),
        (pb::RefundDelayed::full_name(), refund_delayed),
        (pb::RefundRefused::full_name(), refund_refused),
    ];
    readers
        .into_iter()
        .find_map(|(name, reader)| (name == event_type).then_some(reader))
}

fn stock_reserved(payload: &[u8]) -> Result<Reply, BoxError> {
    let event: pb::StockReserved = decode(payload)?;
    let expires_at = event.expire_time.map(OffsetDateTime::try_from).transpose();
    Ok(Reply::StockReserved {
        expires_at: expires_at.map_err(|error| Box::new(error) as BoxError)?,
    })
}

fn reservation_refused(payload: &[u8]) -> Result<Reply, BoxError> {
    let event: pb::ReservationRefused = decode(payload)?;
    Ok(Reply::ReservationRefused {
        reason: event.reason,
        missing_lines: missing_lines(event.missing_lines)?,
    })
}

fn committed(payload: &[u8]) -> Result<Reply, BoxError> {
    let event: pb::ReservationCommitted = decode(payload)?;
    Ok(Reply::ReservationCommitted {
        after_expiry: event.after_expiry,
    })
}

fn commit_refused(payload: &[u8]) -> Result<Reply, BoxError> {
    let event: pb::CommitRefused = decode(payload)?;
    Ok(Reply::CommitRefused {
        reason: event.reason,
        missing_lines: missing_lines(event.missing_lines)?,
    })
}

fn released(payload: &[u8]) -> Result<Reply, BoxError> {
    let event: pb::ReservationReleased = decode(payload)?;
    Ok(Reply::ReservationReleased {
        changed: event.changed,
    })
}

fn charged(payload: &[u8]) -> Result<Reply, BoxError> {
    decode::<pb::PaymentCharged>(payload)?;
    Ok(Reply::PaymentCharged)
}

fn declined(payload: &[u8]) -> Result<Reply, BoxError> {
    let pb::PaymentDeclined { reason, .. } = decode(payload)?;
    Ok(Reply::PaymentDeclined { reason })
}

fn voided(payload: &[u8]) -> Result<Reply, BoxError> {
    let pb::PaymentVoided { changed, .. } = decode(payload)?;
    Ok(Reply::PaymentVoided { changed })
}

fn refunded(payload: &[u8]) -> Result<Reply, BoxError> {
    let pb::PaymentRefunded { changed, .. } = decode(payload)?;
    Ok(Reply::PaymentRefunded { changed })
}

fn refund_delayed(payload: &[u8]) -> Result<Reply, BoxError> {
    let pb::RefundDelayed { reason, .. } = decode(payload)?;
    Ok(Reply::RefundDelayed { reason })
}

fn refund_refused(payload: &[u8]) -> Result<Reply, BoxError> {
    let pb::RefundRefused { reason, .. } = decode(payload)?;
    Ok(Reply::RefundRefused { reason })
}

fn decode<E: DeserializeOwned>(payload: &[u8]) -> Result<E, BoxError> {
    Ok(serde_json::from_slice(payload)?)
}

fn missing_lines(lines: Vec<pb::MissingLine>) -> Result<Vec<MissingLine>, BoxError> {
    let line = |line: pb::MissingLine| {
        Ok(MissingLine {
            sku: Sku::parse(&line.sku)?,
            requested: line.requested,
            available: line.available,
        })
    };
    lines.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use uuid::Uuid;

    use super::*;

    fn outcome(name: &str, payload: &[u8]) -> OutcomeEvent {
        OutcomeEvent {
            event_id: Uuid::from_u128(1),
            event_type: format!("tercet.events.v1.{name}"),
            saga_id: Uuid::from_u128(2),
            command_id: String::new(),
            payload: payload.to_vec(),
            headers: BTreeMap::new(),
        }
    }

    /// The consumer's half of the contract: the golden samples can be read.
    #[test]
    fn every_outcome_of_the_contract_is_read() {
        let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proto/samples");
        let mut known = 0;
        for entry in std::fs::read_dir(samples).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let outcome = outcome(&name, &std::fs::read(&path).unwrap());
            if is_known(&outcome.event_type) {
                read(&outcome).unwrap_or_else(|error| panic!("{name}: {error:?}"));
                known += 1;
            }
        }
        assert_eq!(known, 11);
    }

    #[test]
    fn a_refusal_tells_the_missing_lines() {
        let payload =
            br#"{"reason":"OUT_OF_STOCK","missingLines":[{"sku":"CUP","requested":"3"}]}"#;
        let reply = read(&outcome("ReservationRefused", payload)).unwrap();
        let expected = MissingLine {
            sku: Sku::parse("CUP").unwrap(),
            requested: 3,
            available: 0,
        };
        assert_eq!(
            reply,
            Reply::ReservationRefused {
                reason: "OUT_OF_STOCK".to_owned(),
                missing_lines: vec![expected],
            }
        );
    }

    #[test]
    fn a_reservation_tells_how_long_it_holds() {
        let payload =
            br#"{"occurredAt":"2026-11-30T10:00:00Z","expireTime":"2026-11-30T10:15:00Z"}"#;
        let held = hold_granted(&outcome("StockReserved", payload));
        assert_eq!(held, Some(Duration::from_mins(15)));
        assert_eq!(hold_granted(&outcome("PaymentCharged", payload)), None);
    }

    #[test]
    fn what_is_no_outcome_of_ours_is_not_known() {
        assert!(!is_known("tercet.events.v1.ReservationExpired"));
        assert!(!is_known("tercet.events.v1.EventDiscarded"));
        assert!(read(&outcome("PaymentCharged", b"not json")).is_err());
    }
}
