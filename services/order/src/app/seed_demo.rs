//! Products to play with. inventory-service seeds stock of the same SKUs.

use sqlx::PgPool;

use super::Error;
use crate::{
    domain::{Currency, Money, Product, Sku},
    store::{self, BoxError},
};

/// SKU, name, price in cents.
const PRODUCTS: [(&str, &str, i64); 6] = [
    ("KETTLE-GLASS-1L", "Glass kettle, 1 l", 4_900),
    ("MUG-STONE", "Stoneware mug", 1_900),
    ("SCALE-POCKET", "Pocket scale, 0.1 g", 2_450),
    ("TEA-BLACK-100G", "Black tea, 100 g", 790),
    ("TEA-GREEN-100G", "Green tea, 100 g", 890),
    ("TEAPOT-CLAY", "Clay teapot, 0.8 l", 3_400),
];

/// Adds what is missing; changes nothing that is there.
pub async fn seed_demo(pool: &PgPool) -> Result<u64, Error> {
    let products = products().map_err(Error::Internal)?;
    let mut conn = pool.acquire().await?;
    Ok(store::products::add(&mut conn, &products).await?)
}

fn products() -> Result<Vec<Product>, BoxError> {
    let euro = Currency::parse("EUR")?;
    let product = |(sku, name, minor): (&str, &str, i64)| {
        Ok(Product {
            sku: Sku::parse(sku)?,
            name: name.to_owned(),
            unit_price: Money {
                minor,
                currency: euro,
            },
        })
    };
    PRODUCTS.into_iter().map(product).collect()
}
