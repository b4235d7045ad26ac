//! Stock to play with. It arrives once, however often the service starts.

use super::{App, Error};
use crate::domain::{Adjustment, AdjustmentId, Delta, Sku};

/// The same SKUs as the order service's demo products.
const DEMO: [(&str, i64); 6] = [
    ("KETTLE-GLASS-1L", 100),
    ("MUG-STONE", 500),
    ("SCALE-POCKET", 5),
    ("TEA-BLACK-100G", 1_000),
    ("TEA-GREEN-100G", 1_000),
    ("TEAPOT-CLAY", 100),
];

impl App {
    pub async fn seed_demo(&self) -> Result<(), Error> {
        for (sku, on_hand) in DEMO {
            let (Ok(sku), Ok(delta)) = (Sku::parse(sku), Delta::parse(on_hand)) else {
                continue;
            };
            let adjustment = Adjustment {
                id: AdjustmentId::of_demo_stock(sku.as_str()),
                sku,
                delta,
                reason: "demo stock".to_owned(),
            };
            match self.adjust_stock(adjustment).await {
                // Reused: another version delivered another number. It is there, and that will do.
                Ok(_) | Err(Error::AdjustmentReused) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{DEMO, Delta, Sku};

    #[test]
    fn all_of_the_demo_s_stock_can_be_delivered() {
        for (sku, on_hand) in DEMO {
            assert!(Sku::parse(sku).is_ok(), "{sku}");
            assert!(Delta::parse(on_hand).is_ok() && on_hand > 0, "{sku}");
        }
    }
}
