//! Stock to play with. It arrives once, however often the service starts.

use super::{App, Error};
use crate::domain::{Adjustment, AdjustmentId, Delta, Sku};

/// The same SKUs as the order service's demo products.
const DEMO: [(&str, i64); 6] = [
    ("TEA-GREEN-100G", 1_000),
    ("TEA-BLACK-100G", 1_000),
    ("TEAPOT-IRON-1L", 100),
    ("CUP-PORCELAIN", 500),
    ("SPOON-BAMBOO", 500),
    ("TIN-COLLECTOR-1", 1),
];

impl App {
    pub async fn seed_demo(&self) -> Result<(), Error> {
        for (sku, on_hand) in DEMO {
            let (Ok(sku), Ok(delta)) = (Sku::parse(sku), Delta::parse(on_hand)) else {
                continue;
            };
            self.adjust_stock(Adjustment {
                id: AdjustmentId::of_demo_stock(sku.as_str()),
                sku,
                delta,
                reason: "demo stock".to_owned(),
            })
            .await?;
        }
        Ok(())
    }
}
