//! The key as the caller sends it.

use std::fmt;

const LENGTH_MAX: usize = 255;

/// A caller's key: 1 to 255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key(String);

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It has no characters.
    #[error("must not be empty")]
    Empty,
    /// It has too many.
    #[error("must have at most {LENGTH_MAX} characters, has {length}")]
    TooLong {
        /// How many it has, in bytes.
        length: usize,
    },
    /// It has one that is not visible ASCII.
    #[error("must be visible ASCII, is not at byte {at}")]
    NotVisibleAscii {
        /// The first such byte, counted from 0.
        at: usize,
    },
}

impl Key {
    /// Reads a key.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if text.len() > LENGTH_MAX {
            return Err(KeyError::TooLong { length: text.len() });
        }
        match text.bytes().position(|byte| !byte.is_ascii_graphic()) {
            Some(at) => Err(KeyError::NotVisibleAscii { at }),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The key as it came.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_1_to_255_visible_ascii_characters() {
        assert_eq!(
            Key::parse("!~").map(|key| key.to_string()),
            Ok("!~".to_owned())
        );
        assert!(Key::parse(&"k".repeat(255)).is_ok());
        assert_eq!(
            Key::parse(&"k".repeat(256)),
            Err(KeyError::TooLong { length: 256 })
        );
        assert_eq!(Key::parse(""), Err(KeyError::Empty));
        for (text, at) in [
            ("a b", 1),
            ("\u{e9}", 0),
            ("ab\n", 2),
            ("\0", 0),
            ("\u{7f}", 0),
        ] {
            assert_eq!(
                Key::parse(text),
                Err(KeyError::NotVisibleAscii { at }),
                "{text:?}"
            );
        }
    }
}
