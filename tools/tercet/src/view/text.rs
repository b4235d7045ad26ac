//! Small pieces of text.

use tercet_contracts::wkt::Timestamp;
use time::{OffsetDateTime, macros::format_description};

/// `STATE_CONFIRMED` without its prefix.
pub(crate) fn state(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_owned()
}

/// RFC 3339 with `Z`, for programs.
pub(crate) fn timestamp(time: Option<Timestamp>) -> Option<String> {
    let time = OffsetDateTime::try_from(time?).ok()?;
    time.format(&time::format_description::well_known::Rfc3339)
        .ok()
}

/// Date and time to the second, UTC, for tables.
pub(crate) fn clock(time: Option<&str>) -> String {
    let parsed = time.and_then(|text| {
        OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339).ok()
    });
    let format = format_description!("[year]-[month]-[day] [hour]:[minute]:[second]Z");
    parsed
        .and_then(|time| time.format(&format).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_and_say_so() {
        let time = Timestamp {
            seconds: 1_796_000_000,
            nanos: 500_000_000,
        };
        let text = timestamp(Some(time)).unwrap();
        assert_eq!(text, "2026-11-30T00:53:20.5Z");
        assert_eq!(clock(Some(&text)), "2026-11-30 00:53:20Z");
        assert_eq!(clock(None), "");
    }
}
