//! Something that does not add up.

use std::{collections::BTreeMap, fmt::Display};

use serde::Serialize;

/// Something that does not add up: where to look, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The ids of what it is about, by kind: `order`, `saga`, `payment`, `sku` …
    pub ids: BTreeMap<&'static str, String>,
    /// What is wrong, in one sentence.
    pub sentence: String,
}

impl Finding {
    /// A finding about `kind` `id`.
    pub fn about(kind: &'static str, id: impl Display, sentence: impl Into<String>) -> Self {
        Self {
            ids: BTreeMap::from([(kind, id.to_string())]),
            sentence: sentence.into(),
        }
    }

    /// Names another id that helps to look it up.
    #[must_use]
    pub fn with(mut self, kind: &'static str, id: impl Display) -> Self {
        self.ids.insert(kind, id.to_string());
        self
    }

    /// The ids in words: `order 0192…, payment 0192…`.
    pub fn place(&self) -> String {
        let ids = self.ids.iter().map(|(kind, id)| format!("{kind} {id}"));
        ids.collect::<Vec<_>>().join(", ")
    }
}
