//! Money: whole minor units and an ISO-4217 currency. No floats, and no overflow that goes unseen.

#![warn(clippy::arithmetic_side_effects, clippy::as_conversions)]

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An ISO-4217 currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Currency(iso_currency::Currency);

/// The text is not an ISO-4217 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an ISO-4217 code of three capital letters, for example EUR")]
pub struct UnknownCurrency;

/// An amount in minor units of its currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Money {
    pub minor: i64,
    pub currency: Currency,
}

/// Why two amounts have no sum, or an amount no multiple.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("the amount is too large")]
    Overflow,
    #[error("{left} and {right} cannot be added")]
    OtherCurrency { left: Currency, right: Currency },
}

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
    pub const fn zero(currency: Currency) -> Self {
        Self { minor: 0, currency }
    }

    pub fn times(self, quantity: i64) -> Result<Self, MoneyError> {
        let minor = self
            .minor
            .checked_mul(quantity)
            .ok_or(MoneyError::Overflow)?;
        Ok(Self { minor, ..self })
    }

    pub fn plus(self, other: Self) -> Result<Self, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::OtherCurrency {
                left: self.currency,
                right: other.currency,
            });
        }
        let minor = self
            .minor
            .checked_add(other.minor)
            .ok_or(MoneyError::Overflow)?;
        Ok(Self { minor, ..self })
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        Self::parse(&code).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eur(minor: i64) -> Money {
        Money {
            minor,
            currency: Currency::parse("EUR").unwrap(),
        }
    }

    #[test]
    fn sums_and_multiples_are_checked() {
        assert_eq!(eur(890).times(3), Ok(eur(2670)));
        assert_eq!(eur(1).plus(eur(2)), Ok(eur(3)));
        assert_eq!(eur(i64::MAX).times(2), Err(MoneyError::Overflow));
        assert_eq!(eur(i64::MAX).plus(eur(1)), Err(MoneyError::Overflow));
    }

    #[test]
    fn two_currencies_have_no_sum() {
        let usd = Money {
            minor: 1,
            currency: Currency::parse("USD").unwrap(),
        };
        assert!(matches!(
            eur(1).plus(usd),
            Err(MoneyError::OtherCurrency { .. })
        ));
    }

    #[test]
    fn only_iso_codes_are_currencies() {
        for code in ["", "eur", "EURO", "ZZZ"] {
            assert_eq!(Currency::parse(code), Err(UnknownCurrency), "{code}");
        }
    }
}
