//! Short texts from outside, checked once and then trusted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text was not taken. `Display` is a sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidText {
    #[error("must not be empty")]
    Empty,
    #[error("must have at most {max} characters")]
    TooLong { max: usize },
    #[error("must not contain control characters")]
    ControlCharacter,
    #[error("may contain only letters, digits, '-', '_' and '.'")]
    NotACode,
}

/// Who places the order: any text the caller's own system uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CustomerId(String);

/// The processor's token for a card. Never a card number.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PaymentMethod(String);

impl CustomerId {
    pub const LENGTH_MAX: usize = 128;

    pub fn parse(text: &str) -> Result<Self, InvalidText> {
        free_text(text, Self::LENGTH_MAX).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PaymentMethod {
    pub const LENGTH_MAX: usize = 128;

    pub fn parse(text: &str) -> Result<Self, InvalidText> {
        code(text, Self::LENGTH_MAX).map(Self)
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

/// A text in no particular form. NUL would be refused by PostgreSQL, the other control characters
/// only confuse whoever reads them.
fn free_text(text: &str, max: usize) -> Result<String, InvalidText> {
    if text.trim().is_empty() {
        return Err(InvalidText::Empty);
    }
    if text.chars().count() > max {
        return Err(InvalidText::TooLong { max });
    }
    if text.chars().any(char::is_control) {
        return Err(InvalidText::ControlCharacter);
    }
    Ok(text.to_owned())
}

/// A text made by machines: ASCII letters, digits, `-`, `_` and `.`.
pub(super) fn code(text: &str, max: usize) -> Result<String, InvalidText> {
    let text = free_text(text, max)?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.chars().all(allowed) {
        Ok(text)
    } else {
        Err(InvalidText::NotACode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_nul_are_refused() {
        assert_eq!(
            CustomerId::parse("ann\0"),
            Err(InvalidText::ControlCharacter)
        );
        assert_eq!(
            CustomerId::parse("ann\n"),
            Err(InvalidText::ControlCharacter)
        );
        assert_eq!(CustomerId::parse("  "), Err(InvalidText::Empty));
        assert!(CustomerId::parse("Ann Müller, 茶").is_ok());
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        let max = CustomerId::LENGTH_MAX;
        assert!(CustomerId::parse(&"茶".repeat(max)).is_ok());
        assert_eq!(
            CustomerId::parse(&"茶".repeat(max + 1)),
            Err(InvalidText::TooLong { max })
        );
    }

    #[test]
    fn a_payment_method_is_a_token_and_is_not_printed() {
        assert_eq!(
            PaymentMethod::parse("4242 4242"),
            Err(InvalidText::NotACode)
        );
        let token = PaymentMethod::parse("pm_card_visa").unwrap();
        assert!(!format!("{token:?}").contains("visa"));
    }
}
