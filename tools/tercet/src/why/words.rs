//! Moments, spans and steps in words.

use std::time::Duration;

use time::macros::format_description;

use super::facts::{Saga, When};

/// A span, as exact as a person wants it.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", span.as_secs_f64()),
        10..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// A moment of its day, UTC, and how far it is: `14:03:20Z (in 41 s)`.
pub(super) fn moment(when: When) -> String {
    let day = format_description!("[year]-[month]-[day] ");
    let clock = format_description!("[hour]:[minute]:[second]Z");
    let far = Duration::from_millis(when.ahead_ms.unsigned_abs());
    let date = if far > Duration::from_hours(12) {
        when.at.format(&day).unwrap_or_default()
    } else {
        String::new()
    };
    let clock = when.at.format(&clock).unwrap_or_default();
    let distance = match when.ago() {
        Some(ago) => format!("{} ago", span(ago)),
        None => format!("in {}", span(far)),
    };
    format!("{date}{clock} ({distance})")
}

/// A moment to come, to follow "asks again": `at 14:03:20Z (in 41 s)`, or that it is due.
pub(super) fn due(when: When) -> String {
    match when.ago() {
        None => format!("at {}", moment(when)),
        Some(ago) if ago < Duration::from_secs(1) => "now".to_owned(),
        Some(_) => format!("now: that was due at {}", moment(when)),
    }
}

/// How often.
pub(super) fn times(count: i32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// A service of the three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    Order,
    Payment,
    Inventory,
}

impl Service {
    /// The program.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Order => "order-service",
            Self::Payment => "payment-service",
            Self::Inventory => "inventory-service",
        }
    }

    /// Its database, as a place where a fact was read.
    pub(super) fn database(self) -> &'static str {
        match self {
            Self::Order => "order database",
            Self::Payment => "payment database",
            Self::Inventory => "inventory database",
        }
    }

    /// Whom a step's command goes to; nobody if it is the order service's own step.
    pub(super) fn of_step(step: &str) -> Option<Self> {
        match step {
            "reserve-stock" | "commit-stock" | "return-stock" => Some(Self::Inventory),
            "charge-payment" | "refund-payment" => Some(Self::Payment),
            _ => None,
        }
    }
}

/// What a live saga waits for, to follow "waits for".
pub(super) fn awaited(saga: &Saga) -> String {
    match (saga.step.as_str(), saga.is_backward()) {
        ("reserve-stock", false) => "its stock to be reserved".to_owned(),
        ("charge-payment", false) => "its payment".to_owned(),
        ("commit-stock", false) => "its stock to be committed".to_owned(),
        ("charge-payment", true) => "its refund".to_owned(),
        ("reserve-stock", true) => "its stock to be released".to_owned(),
        (step, false) => format!("its step {step}"),
        (step, true) => format!("its step {step} to be undone"),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn spans_and_moments_are_as_exact_as_a_person_wants_them() {
        for (seconds, words) in [
            (0.34, "0.3 s"),
            (41.9, "41 s"),
            (540.0, "9 min"),
            (7_300.0, "2 h"),
            (200_000.0, "2 days"),
        ] {
            assert_eq!(span(Duration::from_secs_f64(seconds)), words);
        }
        let at = datetime!(2026-11-30 14:03:20 UTC);
        let when = |ahead_ms| When { at, ahead_ms };
        assert_eq!(moment(when(41_000)), "14:03:20Z (in 41 s)");
        assert_eq!(moment(when(-400)), "14:03:20Z (0.4 s ago)");
        assert_eq!(due(when(41_000)), "at 14:03:20Z (in 41 s)");
        assert_eq!(due(when(-400)), "now");
        assert_eq!(
            due(when(-4_000)),
            "now: that was due at 14:03:20Z (4.0 s ago)"
        );
        let days = moment(when(-200_000_000));
        assert_eq!(days, "2026-11-30 14:03:20Z (2 days ago)");
    }
}
