//! One thing that must be so, beside what is so.

use serde::Serialize;

use crate::screen::Ink;

/// One thing that must be so, beside what is so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What is looked at.
    pub what: &'static str,
    /// What must be found.
    pub expected: String,
    /// What is found.
    pub found: String,
    /// Whether that is good.
    pub holds: bool,
}

impl Check {
    /// Holds if both say the same.
    pub fn equal(
        what: &'static str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let (expected, found) = (expected.into(), found.into());
        Self {
            what,
            holds: expected == found,
            expected,
            found,
        }
    }

    /// Holds if one of `expected` is found.
    pub fn one_of(what: &'static str, expected: &[&str], found: impl Into<String>) -> Self {
        let found = found.into();
        Self {
            what,
            holds: expected.contains(&found.as_str()),
            expected: expected.join(" or "),
            found,
        }
    }

    /// A line: what is so, or what is so instead of what must be.
    pub fn draw(&self, ink: Ink) -> String {
        let what = format!("{:<12}", self.what);
        if self.holds {
            format!("{} {} {}", ink.good("✓"), ink.dim(&what), self.found)
        } else {
            let (expected, found) = (&self.expected, ink.bad(&self.found));
            format!("{} {what} expected {expected}, found {found}", ink.bad("✗"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_so_or_what_is_so_instead() {
        let good = Check::one_of("payment", &["VOIDED", "REFUNDED"], "VOIDED");
        assert_eq!(good.draw(Ink::PLAIN), "✓ payment      VOIDED");
        let bad = Check::one_of("payment", &["VOIDED", "REFUNDED"], "CHARGED");
        assert_eq!(
            bad.draw(Ink::PLAIN),
            "✗ payment      expected VOIDED or REFUNDED, found CHARGED"
        );
        assert!(!Check::equal("order", "CONFIRMED", "PENDING").holds);
    }
}
