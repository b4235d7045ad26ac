//! Money for people. Amounts are minor units everywhere; only here do they get a decimal point.

use iso_currency::Currency;

/// `1234` EUR as `12.34 EUR`; `500` JPY as `500 JPY`.
pub fn money(minor: i64, currency: &str) -> String {
    let exponent = Currency::from_code(currency).and_then(Currency::exponent);
    let digits = usize::from(exponent.unwrap_or(0));
    if digits == 0 {
        return format!("{minor} {currency}");
    }
    let sign = if minor < 0 { "-" } else { "" };
    // Padded so that there is a digit before the point: 5 becomes 005, 0.05.
    let padded = format!("{:0>width$}", minor.unsigned_abs(), width = digits + 1);
    let (whole, part) = padded.split_at(padded.len() - digits);
    format!("{sign}{whole}.{part} {currency}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_currency_says_how_many_digits() {
        assert_eq!(money(1234, "EUR"), "12.34 EUR");
        assert_eq!(money(5, "EUR"), "0.05 EUR");
        assert_eq!(money(-1200, "EUR"), "-12.00 EUR");
        assert_eq!(money(500, "JPY"), "500 JPY");
        assert_eq!(money(i64::MIN, "BHD"), "-9223372036854775.808 BHD");
    }
}
