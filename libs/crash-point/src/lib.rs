//! Named points where a test may end the process as a power cut would: no unwinding, no destructors,
//! no flush.
//!
//! ```
//! # fn refund_at_the_gateway() {}
//! # fn mark_refunded() {}
//! refund_at_the_gateway();
//! tercet_crash_point::crash_point!("refund-before-mark");
//! mark_refunded();
//! ```
//!
//! The environment chooses one point per process: `TERCET_CRASH_AT=refund-before-mark` aborts the
//! first time the point is reached, `TERCET_CRASH_AT=refund-before-mark:3` the third time. Without
//! the variable a point costs one load and one branch. Release builds contain no points unless the
//! feature `enabled` is on.

#![warn(missing_docs)]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that names the point to die at.
pub const VARIABLE: &str = "TERCET_CRASH_AT";

/// Aborts the process here if the environment asks for it; see the crate's documentation.
#[macro_export]
macro_rules! crash_point {
    ($name:literal) => {
        $crate::reached($name)
    };
}

/// The function behind [`crash_point!`].
#[inline]
pub fn reached(name: &str) {
    // The switch stands here and not in the macro, where it would ask for the *caller's* features.
    if cfg!(any(debug_assertions, feature = "enabled")) {
        abort_if_chosen(name);
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Target {
    point: String,
    nth: u64,
}

impl Target {
    /// `name` or `name:N`; anything after a colon that is no number belongs to the name.
    fn parse(value: &str) -> Option<Self> {
        let (point, nth) = match value.rsplit_once(':') {
            Some((point, nth)) => match nth.parse() {
                Ok(nth) => (point, nth),
                Err(_) => (value, 1),
            },
            None => (value, 1),
        };
        (!point.is_empty()).then(|| Self {
            point: point.to_owned(),
            nth,
        })
    }
}

fn abort_if_chosen(name: &str) {
    static TARGET: OnceLock<Option<Target>> = OnceLock::new();
    static REACHED: AtomicU64 = AtomicU64::new(0);

    let Some(target) = TARGET.get_or_init(chosen) else {
        return;
    };
    if target.point == name && REACHED.fetch_add(1, Ordering::Relaxed) + 1 == target.nth {
        eprintln!("crash point {name} reached (time {}): aborting", target.nth);
        std::process::abort();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test switch, deliberately not a setting of any service"
)]
fn chosen() -> Option<Target> {
    Target::parse(&std::env::var(VARIABLE).ok()?)
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_point_may_carry_a_count() {
        let target = |point: &str, nth| {
            Some(Target {
                point: point.to_owned(),
                nth,
            })
        };
        assert_eq!(Target::parse("before-mark"), target("before-mark", 1));
        assert_eq!(Target::parse("before-mark:3"), target("before-mark", 3));
        assert_eq!(
            Target::parse("relay:before-mark"),
            target("relay:before-mark", 1)
        );
        assert_eq!(Target::parse(""), None);
    }
}
