//! A payment's states and what may follow what.
//!
//! ```text
//! CHARGING ──▶ CHARGED | DECLINED | VOIDED | REFUNDING      CHARGED ──▶ REFUNDING ──▶ REFUNDED
//!     └──▶ OUTCOME_UNKNOWN ──▶ the same four
//! ```
//!
//! To REFUNDING directly: the answer "taken" came while a refund was waiting for it.

use std::fmt;

/// The only states there are. Each write of one is guarded by the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// The processor is being asked.
    Charging,
    /// It was asked and has not said what it did.
    OutcomeUnknown,
    /// The money is ours.
    Charged,
    /// Nothing was taken, because somebody said no.
    Declined,
    /// Nothing was taken and nothing can be taken any more; or a tombstone.
    Voided,
    /// The money is on its way back.
    Refunding,
    /// The money is back.
    Refunded,
}

/// The text names no state of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no state of a payment")]
pub struct UnknownStatus(pub String);

impl Status {
    pub const ALL: [Self; 7] = [
        Self::Charging,
        Self::OutcomeUnknown,
        Self::Charged,
        Self::Declined,
        Self::Voided,
        Self::Refunding,
        Self::Refunded,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Charging => "CHARGING",
            Self::OutcomeUnknown => "OUTCOME_UNKNOWN",
            Self::Charged => "CHARGED",
            Self::Declined => "DECLINED",
            Self::Voided => "VOIDED",
            Self::Refunding => "REFUNDING",
            Self::Refunded => "REFUNDED",
        }
    }

    pub fn parse(text: &str) -> Result<Self, UnknownStatus> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| UnknownStatus(text.to_owned()))
    }

    /// The processor has still to be asked for something.
    pub const fn is_open(self) -> bool {
        matches!(
            self,
            Self::Charging | Self::OutcomeUnknown | Self::Refunding
        )
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
