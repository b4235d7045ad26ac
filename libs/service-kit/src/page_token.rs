//! Opaque page tokens and page sizes as AIP-158 wants them.
//!
//! A token holds the position after which the next page begins, and a hash of the filter it was made
//! for: a token used with other parameters is refused instead of yielding nonsense.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

const VERSION: u8 = 1;
/// Ours are far shorter; longer ones are not worth decoding.
const LENGTH_MAX: usize = 1024;

/// Why a token or a page size is refused: always the caller's mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// Not one of ours.
    #[error("is not a page token of this method")]
    Malformed,
    /// Made for other parameters.
    #[error("belongs to a request with other parameters")]
    OtherFilter,
    /// Below zero.
    #[error("must not be negative")]
    NegativeSize,
}

#[derive(Serialize, Deserialize)]
struct Token<P> {
    v: u8,
    /// Hash of the filter.
    f: u64,
    /// The last item of the page before.
    p: P,
}

/// The token for the page that begins after `position`, under `filter`: every other parameter of
/// the request, in any stable text form.
pub fn encode<P: Serialize>(filter: &str, position: &P) -> String {
    let token = Token {
        v: VERSION,
        f: hash(filter),
        p: position,
    };
    // Plain data cannot fail to serialize; an empty token only ends the listing early.
    serde_json::to_vec(&token)
        .map(|json| URL_SAFE_NO_PAD.encode(json))
        .unwrap_or_default()
}

/// The position in `token`; `None` for the empty token of a first page.
///
/// # Errors
/// The token is none of ours, or was made for another filter.
pub fn decode<P: DeserializeOwned>(filter: &str, token: &str) -> Result<Option<P>, PageError> {
    if token.is_empty() {
        return Ok(None);
    }
    if token.len() > LENGTH_MAX {
        return Err(PageError::Malformed);
    }
    let json = URL_SAFE_NO_PAD
        .decode(token)
        .map_err(|_| PageError::Malformed)?;
    let token: Token<P> = serde_json::from_slice(&json).map_err(|_| PageError::Malformed)?;
    match token {
        Token { v: VERSION, f, p } if f == hash(filter) => Ok(Some(p)),
        Token { v: VERSION, .. } => Err(PageError::OtherFilter),
        Token { .. } => Err(PageError::Malformed),
    }
}

/// The number of items to return: 0 asks for `default`, more than `max` gives `max`.
///
/// # Errors
/// The size is negative.
pub fn size(requested: i32, default: u32, max: u32) -> Result<u32, PageError> {
    match u32::try_from(requested) {
        Ok(0) => Ok(default.min(max)),
        Ok(size) => Ok(size.min(max)),
        Err(_) => Err(PageError::NegativeSize),
    }
}

/// FNV-1a: the same in every build, as tokens travel between instances and versions. It guards
/// against mistakes, not against forgery; a position grants nothing.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{PageError, decode, encode, size};

    type Position = (i64, String);

    #[test]
    fn a_token_leads_back_to_its_position() {
        let position: Position = (7, "b".to_owned());
        let token = encode("status=OPEN", &position);
        assert_eq!(decode("status=OPEN", &token), Ok(Some(position)));
        assert_eq!(decode::<Position>("status=OPEN", ""), Ok(None));
    }

    #[test]
    fn a_foreign_token_is_refused() {
        let token = encode("status=OPEN", &(7, "b"));
        assert_eq!(
            decode::<Position>("status=DONE", &token),
            Err(PageError::OtherFilter)
        );
        for bad in [
            "x",
            "%%%",
            &encode("status=OPEN", &"text"),
            &"A".repeat(2000),
        ] {
            assert_eq!(
                decode::<Position>("status=OPEN", bad),
                Err(PageError::Malformed)
            );
        }
    }

    #[test]
    fn sizes_are_coerced_but_never_negative() {
        assert_eq!(size(0, 50, 200), Ok(50));
        assert_eq!(size(10, 50, 200), Ok(10));
        assert_eq!(size(1000, 50, 200), Ok(200));
        assert_eq!(size(-1, 50, 200), Err(PageError::NegativeSize));
    }
}
