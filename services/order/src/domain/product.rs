//! What can be ordered, and at which price.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::{InvalidText, Money, text};

/// A stock keeping unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sku(String);

/// A product with the price that this service charges. A client never sends one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    pub sku: Sku,
    pub name: String,
    pub unit_price: Money,
}

impl Sku {
    /// 50 lines of this length must fit into a saga's 4 KiB of data (`saga::place_order` tests it).
    pub const LENGTH_MAX: usize = 40;

    pub fn parse(text: &str) -> Result<Self, InvalidText> {
        text::code(text, Self::LENGTH_MAX).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sku {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
