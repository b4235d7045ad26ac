use std::fmt;

/// Who defines the reasons: a name that is globally unique and never changes, such as `tercet.dev`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorDomain {
    name: &'static str,
    help_pages: Option<&'static str>,
}

impl ErrorDomain {
    /// The domain `name`.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            help_pages: None,
        }
    }

    /// Adds to every error a link to its page: `{base}{REASON}.md`.
    #[must_use]
    pub const fn with_help_pages(self, base: &'static str) -> Self {
        Self {
            help_pages: Some(base),
            ..self
        }
    }

    /// The name clients match on.
    pub const fn name(self) -> &'static str {
        self.name
    }

    pub(crate) fn help_page(self, reason: Reason) -> Option<String> {
        self.help_pages.map(|base| format!("{base}{reason}.md"))
    }
}

/// Why a call failed, in a word that never changes: `ORDER_NOT_FOUND`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reason(&'static str);

impl Reason {
    /// A reason as AIP-193 wants it: `[A-Z][A-Z0-9_]+[A-Z0-9]`, at most 63 characters.
    ///
    /// # Panics
    /// On any other word. In a `const` the compiler says so, which is where reasons belong.
    pub const fn new(word: &'static str) -> Self {
        let bytes = word.as_bytes();
        assert!(
            3 <= bytes.len() && bytes.len() <= 63,
            "a reason has 3 to 63 characters"
        );
        let mut rest = bytes;
        let mut first = true;
        while let [byte, tail @ ..] = rest {
            let edge = first || tail.is_empty();
            let fits = match *byte {
                b'A'..=b'Z' => true,
                b'0'..=b'9' => !first,
                b'_' => !edge,
                _ => false,
            };
            assert!(fits, "a reason is UPPER_SNAKE_CASE");
            first = false;
            rest = tail;
        }
        Self(word)
    }

    /// The word itself.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Reason;

    #[test]
    fn a_reason_is_upper_snake_case() {
        for good in ["ABC", "ORDER_NOT_FOUND", "V2_ONLY", "CARD_DECLINED_3"] {
            assert_eq!(Reason::new(good).as_str(), good);
        }
        let long = "A".repeat(64).leak();
        for bad in ["", "AB", "order", "ORDER-X", "_ABC", "ABC_", "1ABC", long] {
            assert!(
                std::panic::catch_unwind(|| Reason::new(bad)).is_err(),
                "{bad} was accepted"
            );
        }
    }
}
