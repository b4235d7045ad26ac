//! Deadlines as gRPC carries them, and what is left of one.

use std::time::Duration;

use http::HeaderMap;
use tokio::time::Instant;
use tonic::Request;

const HEADER: &str = "grpc-timeout";

/// When the answer to this call is no longer wanted. Every call has one, in its extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
    given: bool,
}

impl Deadline {
    /// From a call's headers: what the client asks for, at most `max`. A malformed value counts as
    /// none, which must not mean that the call has no deadline.
    pub(super) fn of(headers: &HeaderMap, max: Duration) -> Self {
        let asked = headers
            .get(HEADER)
            .and_then(|value| parse(value.as_bytes()));
        let after = asked.map_or(max, |asked| asked.min(max));
        Self {
            at: Instant::now() + after,
            given: asked.is_some(),
        }
    }

    /// When.
    pub fn at(self) -> Instant {
        self.at
    }

    /// What is left; zero once it has passed.
    pub fn remaining(self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// The client gave it, rather than the server's limit. Commands between services must give one.
    pub fn is_given(self) -> bool {
        self.given
    }
}

/// The deadline of `request`; `None` only outside a [`Frame`](super::Frame).
pub fn of<T>(request: &Request<T>) -> Option<Deadline> {
    request.extensions().get::<Deadline>().copied()
}

/// `1 to 8 digits, then H M S m u n`.
fn parse(value: &[u8]) -> Option<Duration> {
    let (unit, digits) = value.split_last()?;
    let well_formed = (1..=8).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    if !well_formed {
        return None;
    }
    let count: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    match unit {
        b'H' => Some(Duration::from_secs(count * 3600)),
        b'M' => Some(Duration::from_secs(count * 60)),
        b'S' => Some(Duration::from_secs(count)),
        b'm' => Some(Duration::from_millis(count)),
        b'u' => Some(Duration::from_micros(count)),
        b'n' => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse;

    #[test]
    fn only_well_formed_values_count() {
        assert_eq!(parse(b"10S"), Some(Duration::from_secs(10)));
        assert_eq!(parse(b"99999999H"), Some(Duration::from_hours(99_999_999)));
        assert_eq!(parse(b"1500m"), Some(Duration::from_millis(1500)));
        for odd in [
            &b""[..],
            b"S",
            b"10",
            b"-1S",
            b"+1S",
            b"1.5S",
            b"100000000S",
            b"1s",
            b"1 S",
        ] {
            assert_eq!(parse(odd), None, "{odd:?}");
        }
    }
}
