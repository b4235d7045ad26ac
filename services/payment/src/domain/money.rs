//! Money: whole minor units and an ISO-4217 currency. No floats, and no overflow that goes unseen.

#![warn(clippy::arithmetic_side_effects, clippy::as_conversions)]

use std::fmt;

/// An ISO-4217 currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Currency(iso_currency::Currency);

/// The text is not an ISO-4217 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an ISO-4217 code of three capital letters, for example EUR")]
pub struct UnknownCurrency;

/// An amount that can be charged: one minor unit or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

/// Nothing, or less, cannot be charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 or more")]
pub struct NotPositive;

impl Currency {
    pub fn parse(code: &str) -> Result<Self, UnknownCurrency> {
        iso_currency::Currency::from_code(code)
            .map(Self)
            .ok_or(UnknownCurrency)
    }

    pub fn code(self) -> &'static str {
        self.0.code()
    }
}

impl Money {
    pub fn new(minor: i64, currency: Currency) -> Result<Self, NotPositive> {
        if minor > 0 {
            Ok(Self { minor, currency })
        } else {
            Err(NotPositive)
        }
    }

    pub const fn minor(self) -> i64 {
        self.minor
    }

    pub const fn currency(self) -> Currency {
        self.currency
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_something_can_be_charged() {
        let eur = Currency::parse("EUR").unwrap();
        assert_eq!(Money::new(0, eur), Err(NotPositive));
        assert_eq!(Money::new(-1, eur), Err(NotPositive));
        assert_eq!(Money::new(i64::MAX, eur).unwrap().minor(), i64::MAX);
    }

    #[test]
    fn only_iso_codes_are_currencies() {
        for code in ["", "eur", "EURO", "ZZZ"] {
            assert_eq!(Currency::parse(code), Err(UnknownCurrency), "{code}");
        }
    }
}
