//! What happened to a reservation.

use time::OffsetDateTime;

use crate::domain::{Line, MissingLine, OrderId, ReservationId};

/// One event of one reservation. `version` was taken under the reservation's row lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservationEvent {
    pub reservation_id: ReservationId,
    pub order_id: OrderId,
    pub version: i64,
    pub fact: Fact,
}

/// All of them are outcomes of a command, but [`Fact::Expired`], which nobody asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    Reserved {
        lines: Vec<Line>,
        expires_at: OffsetDateTime,
    },
    ReservationRefused {
        missing_lines: Vec<MissingLine>,
    },
    Committed {
        after_expiry: bool,
    },
    /// The hold was gone and its stock sold to somebody else.
    CommitRefused {
        missing_lines: Vec<MissingLine>,
    },
    Released {
        /// False if there was nothing to give back.
        changed: bool,
    },
    Expired,
}
