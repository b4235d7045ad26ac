//! Words that are stored as text, and texts that are cut to fit a row.

pub(crate) fn cut(mut text: String, chars_max: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(chars_max) {
        text.truncate(at);
    }
    text
}

/// A word that is stored as text was not one of those known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is no {kind}")]
pub struct UnknownWord {
    pub(crate) kind: &'static str,
    pub(crate) word: String,
}

/// Words that people look at are stored `UPPER_SNAKE`.
macro_rules! words {
    ($(#[$docs:meta])* $name:ident, $kind:literal {
        $($(#[$variant_docs:meta])* $variant:ident = $word:literal),+ $(,)?
    }) => {
        $(#[$docs])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_docs])* $variant),+ }

        impl $name {
            /// The stored form.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::words::UnknownWord { kind: $kind, word: word.to_owned() }),
                }
            }
        }
    };
}
pub(crate) use words;
