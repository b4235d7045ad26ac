//! Something that can be ordered.

use serde::Serialize;
use tercet_contracts::order::v1 as pb;

use crate::{
    screen::{Record, Tone},
    view::money,
};

/// A product as JSON and as a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProductView {
    /// Its stock keeping unit.
    pub sku: String,
    /// What it is called.
    pub name: String,
    /// ISO-4217.
    pub currency: String,
    /// What one costs, in minor units.
    pub unit_price_minor: i64,
}

impl From<pb::Product> for ProductView {
    fn from(product: pb::Product) -> Self {
        Self {
            sku: product.sku,
            name: product.name,
            currency: product.currency,
            unit_price_minor: product.unit_price_minor,
        }
    }
}

impl Record for ProductView {
    const HEADINGS: &'static [&'static str] = &["SKU", "NAME", "PRICE"];
    const EMPTY: &'static str = "no products: start the services with --seed-demo";

    fn cells(&self) -> Vec<(String, Tone)> {
        vec![
            (self.sku.clone(), Tone::Plain),
            (self.name.clone(), Tone::Plain),
            (money(self.unit_price_minor, &self.currency), Tone::Number),
        ]
    }
}
