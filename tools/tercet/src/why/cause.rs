//! The causes: one code each, for programs and for the table in docs/why.md.

use serde::{Serialize, Serializer};

/// Why something is as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Nobody knows the id.
    UnknownId,
    /// A transaction that does not end holds a row or a table.
    LockHeld,
    /// A database that holds a part of the answer does not answer.
    DatabaseDown,
    /// A person closed the saga.
    ClosedByPerson,
    /// The saga is STUCK at an undo.
    StuckUndo,
    /// The saga is STUCK at a step.
    Stuck,
    /// The order service itself does not answer: nobody drives the saga.
    OrchestratorDown,
    /// An event that the broker refuses, or that waits behind one, is with a person.
    QuarantinedEvent,
    /// Nobody alive has the lease to publish the event.
    RelayStopped,
    /// Kafka does not answer.
    BrokerDown,
    /// The relay has the event and does not get rid of it.
    RelayBehind,
    /// The order service could not handle the message, and put it aside.
    ParkedMessage,
    /// The outcome is on its topic, and the order service has not read it.
    ConsumerBehind,
    /// The service that must act cannot be reached.
    ParticipantDown,
    /// The card processor cannot be reached.
    GatewayDown,
    /// The card processor answers with errors of its own.
    GatewayError,
    /// The card processor was asked and nobody knows what it did.
    OutcomeUnknown,
    /// The refund was refused; the saga has not heard it yet.
    RefundRefused,
    /// The refund is under way at the processor.
    RefundPending,
    /// The stock was no longer held when it was needed.
    HoldExpired,
    /// Commands are sent, and no ack comes.
    NoAck,
    /// The order service runs, and does not do what is due.
    EngineStalled,
    /// All is well: it ended with goods and money.
    Confirmed,
    /// It ended without goods and without money.
    Cancelled,
    /// It is being undone, and nothing holds it up.
    Compensating,
    /// It is on its way, and nothing holds it up.
    Running,
    /// None of the above.
    Unexplained,
}

impl Cause {
    /// Every cause, the first ones going before the later ones where several hold.
    pub const ALL: [Self; 27] = [
        Self::LockHeld,
        Self::UnknownId,
        Self::DatabaseDown,
        Self::ClosedByPerson,
        Self::StuckUndo,
        Self::Stuck,
        Self::OrchestratorDown,
        Self::QuarantinedEvent,
        Self::RelayStopped,
        Self::BrokerDown,
        Self::RelayBehind,
        Self::ParkedMessage,
        Self::ConsumerBehind,
        Self::ParticipantDown,
        Self::GatewayDown,
        Self::GatewayError,
        Self::OutcomeUnknown,
        Self::RefundRefused,
        Self::RefundPending,
        Self::HoldExpired,
        Self::NoAck,
        Self::EngineStalled,
        Self::Confirmed,
        Self::Cancelled,
        Self::Compensating,
        Self::Running,
        Self::Unexplained,
    ];

    /// `UPPER_SNAKE`.
    pub fn code(self) -> &'static str {
        match self {
            Self::UnknownId => "UNKNOWN_ID",
            Self::LockHeld => "LOCK_HELD",
            Self::DatabaseDown => "DATABASE_DOWN",
            Self::ClosedByPerson => "CLOSED_BY_PERSON",
            Self::StuckUndo => "STUCK_UNDO",
            Self::Stuck => "STUCK",
            Self::OrchestratorDown => "ORCHESTRATOR_DOWN",
            Self::QuarantinedEvent => "QUARANTINED_EVENT",
            Self::RelayStopped => "RELAY_STOPPED",
            Self::BrokerDown => "BROKER_DOWN",
            Self::RelayBehind => "RELAY_BEHIND",
            Self::ParkedMessage => "PARKED_MESSAGE",
            Self::ConsumerBehind => "CONSUMER_BEHIND",
            Self::ParticipantDown => "PARTICIPANT_DOWN",
            Self::GatewayDown => "GATEWAY_DOWN",
            Self::GatewayError => "GATEWAY_ERROR",
            Self::OutcomeUnknown => "OUTCOME_UNKNOWN",
            Self::RefundRefused => "REFUND_REFUSED",
            Self::RefundPending => "REFUND_PENDING",
            Self::HoldExpired => "HOLD_EXPIRED",
            Self::NoAck => "NO_ACK",
            Self::EngineStalled => "ENGINE_STALLED",
            Self::Confirmed => "CONFIRMED",
            Self::Cancelled => "CANCELLED",
            Self::Compensating => "COMPENSATING",
            Self::Running => "RUNNING",
            Self::Unexplained => "UNEXPLAINED",
        }
    }

    /// Whether nobody needs to look.
    pub fn is_normal(self) -> bool {
        matches!(
            self,
            Self::Confirmed | Self::Cancelled | Self::Compensating | Self::Running
        )
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/why.md");

    #[test]
    fn the_page_lists_every_cause_in_its_order() {
        let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| "));
        let codes: Vec<&str> = rows
            .filter_map(|row| row.split(' ').next())
            .skip(1)
            .collect();
        assert_eq!(codes, Cause::ALL.map(Cause::code));
    }
}
