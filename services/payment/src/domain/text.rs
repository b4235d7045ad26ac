//! Short texts from outside, checked once and then trusted.

use std::fmt;

/// Why a text was not taken. `Display` is a sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidText {
    #[error("must not be empty")]
    Empty,
    #[error("must have at most {max} characters")]
    TooLong { max: usize },
    #[error("may contain only letters, digits, '-', '_' and '.'")]
    NotACode,
}

/// The processor's token for a card. Never a card number.
#[derive(Clone, PartialEq, Eq)]
pub struct PaymentMethod(String);

/// Why something did not go well, in a word for programs: `CARD_DECLINED`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(String);

impl PaymentMethod {
    pub const LENGTH_MAX: usize = 128;

    pub fn parse(text: &str) -> Result<Self, InvalidText> {
        if text.is_empty() {
            return Err(InvalidText::Empty);
        }
        if text.len() > Self::LENGTH_MAX {
            let max = Self::LENGTH_MAX;
            return Err(InvalidText::TooLong { max });
        }
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidText::NotACode)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A token pays: it stays out of logs, also of a logged command.
impl fmt::Debug for PaymentMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PaymentMethod(…)")
    }
}

impl Reason {
    pub const LENGTH_MAX: usize = 63;

    /// From a code of the processor's, or a word of ours: whatever it is, the result is
    /// `UPPER_SNAKE` and short.
    pub fn from_code(code: &str) -> Self {
        let upper = |byte: u8| {
            if byte.is_ascii_alphanumeric() {
                char::from(byte.to_ascii_uppercase())
            } else {
                '_'
            }
        };
        let word: String = code.bytes().take(Self::LENGTH_MAX).map(upper).collect();
        match word.trim_matches('_') {
            "" => Self("UNKNOWN".to_owned()),
            word => Self(word.to_owned()),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_method_is_a_token_and_is_not_printed() {
        for bad in ["4242 4242", "pm\0", "pm\n", "", &"a".repeat(129)] {
            assert!(PaymentMethod::parse(bad).is_err(), "{bad:?}");
        }
        let token = PaymentMethod::parse("pm_card_visa").unwrap();
        assert!(!format!("{token:?}").contains("visa"));
    }

    #[test]
    fn a_reason_is_a_short_word_whatever_it_is_made_of() {
        assert_eq!(Reason::from_code("card_declined").as_str(), "CARD_DECLINED");
        assert_eq!(Reason::from_code("é; DROP").as_str(), "DROP");
        assert_eq!(Reason::from_code("…").as_str(), "UNKNOWN");
        assert_eq!(Reason::from_code(&"a".repeat(500)).as_str().len(), 63);
    }
}
