//! How long to wait, and when to stop waiting. Pure: jitter comes in as a value.
//!
//! Three waits, three settings. *No ack*: send again, with a cap on the tries. *Acked, no outcome
//! yet*: ask again, never counted. *Time is up*: a budget ends the step, whatever it waits for.

use std::{collections::BTreeMap, time::Duration};

use time::OffsetDateTime;

use crate::error::DefinitionError;

/// The waits of a definition. Every one can be set; tests and demos use shorter ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// From a send to the next one, if nothing was heard or no ack came; doubled each time.
    pub first_try: Duration,
    /// The longest wait without an ack, for forward steps before the pivot.
    pub cap_before_pivot: Duration,
    /// The longest wait without an ack, for all other commands.
    pub cap_elsewhere: Duration,
    /// The longest wait while the participant cannot be connected to.
    pub cap_cannot_connect: Duration,
    /// Sends in a row that may end without an ack.
    pub attempts_max: u32,
    /// From an ack to the next question; doubled each time.
    pub ask_first: Duration,
    /// The longest wait between two questions.
    pub ask_cap: Duration,
    /// The budget of steps that name none, and of every undo.
    pub budget_default: Duration,
    /// Overrides [`Saga::budget_before_pivot`](crate::Saga::budget_before_pivot).
    pub before_pivot: Option<Duration>,
    /// Overrides the budgets that steps name themselves.
    pub budgets: BTreeMap<String, Duration>,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            first_try: Duration::from_secs(2),
            cap_before_pivot: Duration::from_secs(30),
            cap_elsewhere: Duration::from_hours(1),
            cap_cannot_connect: Duration::from_secs(2),
            attempts_max: 12,
            ask_first: Duration::from_secs(2),
            ask_cap: Duration::from_secs(30),
            budget_default: Duration::from_mins(5),
            before_pivot: None,
            budgets: BTreeMap::new(),
        }
    }
}

impl Timing {
    /// Overrides the budget that the step itself names.
    #[must_use]
    pub fn budget(mut self, step: impl Into<String>, budget: Duration) -> Self {
        self.budgets.insert(step.into(), budget);
        self
    }

    pub(crate) fn budget_of(&self, step: &str) -> Option<Duration> {
        self.budgets.get(step).copied()
    }

    pub(crate) fn check(&self, steps: &[&str]) -> Result<(), DefinitionError> {
        if let Some(step) = self
            .budgets
            .keys()
            .find(|step| !steps.contains(&step.as_str()))
        {
            return Err(DefinitionError::BudgetForNoStep { step: step.clone() });
        }
        let waits = [
            ("first_try", self.first_try),
            ("cap_before_pivot", self.cap_before_pivot),
            ("cap_elsewhere", self.cap_elsewhere),
            ("cap_cannot_connect", self.cap_cannot_connect),
            ("ask_first", self.ask_first),
            ("ask_cap", self.ask_cap),
            ("budget_default", self.budget_default),
        ];
        match waits.into_iter().find(|(_, wait)| wait.is_zero()) {
            Some((setting, _)) => Err(DefinitionError::ZeroWait { setting }),
            None if self.attempts_max == 0 => Err(DefinitionError::ZeroWait {
                setting: "attempts_max",
            }),
            None => Ok(()),
        }
    }

    /// The longest wait before the `attempt`-th send after one without an ack, counted from 1.
    pub(crate) fn no_ack_ceiling(&self, attempt: u32, before_pivot: bool) -> Duration {
        let cap = if before_pivot {
            self.cap_before_pivot
        } else {
            self.cap_elsewhere
        };
        doubled(self.first_try, attempt.saturating_sub(1), cap)
    }

    /// The wait after `asks` questions: the first comes after `ask_first`.
    pub(crate) fn ask_delay(&self, asks: u32) -> Duration {
        doubled(self.ask_first, asks, self.ask_cap)
    }
}

fn doubled(first: Duration, times: u32, cap: Duration) -> Duration {
    2_u32
        .checked_pow(times)
        .and_then(|factor| first.checked_mul(factor))
        .map_or(cap, |d| d.min(cap))
}

/// A random share of a wait, between 0 and 1, so that many sagas do not knock at the same moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter(f64);

impl Jitter {
    /// The whole wait.
    pub const NONE: Self = Self(1.0);

    /// `share` of the wait; what is outside 0 to 1 is taken as the nearest bound.
    pub fn new(share: f64) -> Self {
        if share.is_nan() {
            Self::NONE
        } else {
            Self(share.clamp(0.0, 1.0))
        }
    }

    pub(crate) fn of(self, wait: Duration) -> Duration {
        wait.mul_f64(self.0)
    }
}

/// `at + wait`, or `at` at the end of time.
pub(crate) fn later(at: OffsetDateTime, wait: Duration) -> OffsetDateTime {
    time::Duration::try_from(wait)
        .ok()
        .and_then(|wait| at.checked_add(wait))
        .unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_their_cap() {
        let timing = Timing::default();
        let seconds = |attempt, before| timing.no_ack_ceiling(attempt, before).as_secs();
        assert_eq!(
            [1, 2, 3, 4, 5, 6].map(|n| seconds(n, true)),
            [2, 4, 8, 16, 30, 30]
        );
        assert_eq!(
            [1, 11, 12, 40, u32::MAX].map(|n| seconds(n, false)),
            [2, 2048, 3600, 3600, 3600]
        );
        assert_eq!(
            [0, 1, 2, 3, 4, 99].map(|n| timing.ask_delay(n).as_secs()),
            [2, 4, 8, 16, 30, 30]
        );
    }

    #[test]
    fn jitter_takes_a_share_and_nothing_else() {
        let wait = Duration::from_secs(8);
        assert_eq!(Jitter::new(0.25).of(wait), Duration::from_secs(2));
        assert_eq!(Jitter::new(-1.0).of(wait), Duration::ZERO);
        assert_eq!(Jitter::new(7.0).of(wait), wait);
        assert_eq!(Jitter::new(f64::NAN).of(wait), wait);
    }

    #[test]
    fn later_never_panics() {
        let now = OffsetDateTime::UNIX_EPOCH;
        assert_eq!(later(now, Duration::MAX), now);
    }
}
