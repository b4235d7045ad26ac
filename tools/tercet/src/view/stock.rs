//! The stock of one SKU.

use serde::Serialize;
use tercet_contracts::inventory::v1 as pb;

use crate::screen::{Record, Tone};

/// Stock as JSON and as a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StockView {
    /// The stock keeping unit.
    pub sku: String,
    /// Goods in the house, held ones included.
    pub on_hand: i64,
    /// Held by pending orders.
    pub reserved: i64,
    /// What can be ordered.
    pub available: i64,
}

impl From<pb::Stock> for StockView {
    fn from(stock: pb::Stock) -> Self {
        Self {
            sku: stock.sku,
            on_hand: stock.on_hand,
            reserved: stock.reserved,
            available: stock.available,
        }
    }
}

impl Record for StockView {
    const HEADINGS: &'static [&'static str] = &["SKU", "ON HAND", "RESERVED", "AVAILABLE"];
    const EMPTY: &'static str = "no stock: tercet stock adjust SKU +10 --reason \"delivery\"";

    fn cells(&self) -> Vec<(String, Tone)> {
        vec![
            (self.sku.clone(), Tone::Plain),
            (self.on_hand.to_string(), Tone::Number),
            (self.reserved.to_string(), Tone::Number),
            (self.available.to_string(), Tone::Number),
        ]
    }
}
