//! A reservation's states and what may follow what.
//!
//! ```text
//! PENDING ─▶ COMMITTED | RELEASED | EXPIRED      EXPIRED ─▶ COMMITTED      COMMITTED ─▶ RETURNED
//! REFUSED (nothing was ever held)
//! ```

use time::OffsetDateTime;

use crate::domain::{Line, OrderId, ReservationId};

/// The only states there are. Each write of one is guarded by the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Stock is held, until it is committed, released or expired.
    Pending,
    /// Sold.
    Committed,
    /// Given back, or never taken: a tombstone.
    Released,
    /// The time was over and the stock given back.
    Expired,
    /// At least one line could not be had.
    Refused,
    /// Sold and brought back.
    Returned,
}

/// The text names no state of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no state of a reservation")]
pub struct UnknownState(pub String);

impl State {
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Committed,
        Self::Released,
        Self::Expired,
        Self::Refused,
        Self::Returned,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Committed => "COMMITTED",
            Self::Released => "RELEASED",
            Self::Expired => "EXPIRED",
            Self::Refused => "REFUSED",
            Self::Returned => "RETURNED",
        }
    }

    pub fn parse(text: &str) -> Result<Self, UnknownState> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| UnknownState(text.to_owned()))
    }
}

/// A reservation as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    pub id: ReservationId,
    pub order_id: OrderId,
    pub state: State,
    /// Empty for a tombstone.
    pub lines: Vec<Line>,
    /// `None` if it never held anything.
    pub expires_at: Option<OffsetDateTime>,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
    pub version: i64,
}

/// The command cannot be obeyed in this state, and no order of events that we know leads here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("reservation {id} is {}: it cannot be {wanted}", state.as_str())]
pub struct WrongState {
    pub id: ReservationId,
    pub state: State,
    /// `committed` or `released`.
    pub wanted: &'static str,
}

/// What a commit has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// The hold stands, also one past its time that the sweeper has not come to: sell it.
    SellHeld,
    /// The hold is gone: take the stock anew if it is still there.
    SellAfterExpiry,
}

/// What a release has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    GiveBack,
    /// Refused, released or expired: the answer is `changed = false`.
    NothingHeld,
}

impl Reservation {
    pub fn commit(&self) -> Result<Commit, WrongState> {
        match self.state {
            // The clock is not asked: a customer who has paid is not turned away for being late
            // while nobody else has the goods.
            State::Pending => Ok(Commit::SellHeld),
            State::Expired => Ok(Commit::SellAfterExpiry),
            State::Committed | State::Released | State::Refused | State::Returned => {
                Err(self.wrong_state("committed"))
            }
        }
    }

    pub fn release(&self) -> Result<Release, WrongState> {
        match self.state {
            State::Pending => Ok(Release::GiveBack),
            State::Released | State::Expired | State::Refused => Ok(Release::NothingHeld),
            // Sold goods come back by a return, which is another command.
            State::Committed | State::Returned => Err(self.wrong_state("released")),
        }
    }

    fn wrong_state(&self, wanted: &'static str) -> WrongState {
        WrongState {
            id: self.id,
            state: self.state,
            wanted,
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn reservation(state: State) -> Reservation {
        Reservation {
            id: Uuid::from_u128(1).into(),
            order_id: Uuid::from_u128(2).into(),
            state,
            lines: Vec::new(),
            expires_at: None,
            created_at: OffsetDateTime::UNIX_EPOCH,
            updated_at: OffsetDateTime::UNIX_EPOCH,
            version: 1,
        }
    }

    #[test]
    fn only_a_hold_or_an_expired_one_can_be_committed() {
        for state in State::ALL {
            let expected = match state {
                State::Pending => Some(Commit::SellHeld),
                State::Expired => Some(Commit::SellAfterExpiry),
                _ => None,
            };
            assert_eq!(reservation(state).commit().ok(), expected, "{state:?}");
        }
    }

    #[test]
    fn a_release_gives_back_only_what_is_held() {
        for state in State::ALL {
            let expected = match state {
                State::Pending => Some(Release::GiveBack),
                State::Released | State::Expired | State::Refused => Some(Release::NothingHeld),
                _ => None,
            };
            assert_eq!(reservation(state).release().ok(), expected, "{state:?}");
        }
    }

    #[test]
    fn a_refusal_says_which_state_is_in_the_way() {
        let refused = reservation(State::Committed).release().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "reservation 00000000-0000-0000-0000-000000000001 is COMMITTED: it cannot be released"
        );
    }

    #[test]
    fn every_state_reads_back_as_it_was_written() {
        for state in State::ALL {
            assert_eq!(State::parse(state.as_str()), Ok(state));
        }
        assert!(State::parse("pending").is_err());
    }
}
