//! Colours by meaning. Without colour every text still says everything.

/// Colours text, or leaves it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ink {
    on: bool,
}

impl Ink {
    /// Never colours.
    pub const PLAIN: Self = Self { on: false };
    /// Always colours.
    pub const COLOURED: Self = Self { on: true };

    /// Colours if `on`.
    pub fn new(on: bool) -> Self {
        Self { on }
    }

    /// Whether it colours.
    pub fn is_on(self) -> bool {
        self.on
    }

    /// Went well.
    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Went badly.
    pub fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// Look here, but nothing is broken.
    pub fn warn(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// A name among words.
    pub fn name(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// A heading.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Of second importance.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_ink_adds_nothing() {
        assert_eq!(Ink::PLAIN.good("CONFIRMED"), "CONFIRMED");
        assert_eq!(
            Ink::COLOURED.good("CONFIRMED"),
            "\u{1b}[32mCONFIRMED\u{1b}[0m"
        );
    }
}
