//! Table `products`: what can be ordered, and at which price.

use std::collections::{BTreeSet, HashMap};

use sqlx::{PgConnection, Row, postgres::PgRow};

use super::StoreError;
use crate::domain::{Currency, Money, Product, Sku};

/// Those of `skus` that exist.
pub async fn find(
    conn: &mut PgConnection,
    skus: &BTreeSet<Sku>,
) -> Result<HashMap<Sku, Product>, StoreError> {
    let skus: Vec<&str> = skus.iter().map(Sku::as_str).collect();
    let rows = sqlx::query(
        "SELECT sku, name, currency, unit_price_minor FROM products WHERE sku = ANY($1)",
    )
    .bind(skus)
    .fetch_all(conn)
    .await?;
    let products = rows.iter().map(product).map(|product| {
        let product = product?;
        Ok((product.sku.clone(), product))
    });
    products.collect()
}

/// At most `limit` products after `after`, by SKU.
pub async fn list(
    conn: &mut PgConnection,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<Product>, StoreError> {
    let rows = sqlx::query(
        "SELECT sku, name, currency, unit_price_minor FROM products
          WHERE sku > coalesce($1, '') ORDER BY sku LIMIT $2",
    )
    .bind(after)
    .bind(limit)
    .fetch_all(conn)
    .await?;
    rows.iter().map(product).collect()
}

/// Adds those that are not there yet; a price that somebody changed stays as it is.
pub async fn add(conn: &mut PgConnection, products: &[Product]) -> Result<u64, StoreError> {
    let column = |value: fn(&Product) -> String| products.iter().map(value).collect::<Vec<_>>();
    let prices: Vec<i64> = products.iter().map(|p| p.unit_price.minor).collect();
    let added = sqlx::query(
        "INSERT INTO products (sku, name, currency, unit_price_minor)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
         ON CONFLICT DO NOTHING",
    )
    .bind(column(|p| p.sku.to_string()))
    .bind(column(|p| p.name.clone()))
    .bind(column(|p| p.unit_price.currency.to_string()))
    .bind(prices)
    .execute(conn)
    .await?;
    Ok(added.rows_affected())
}

fn product(row: &PgRow) -> Result<Product, StoreError> {
    let sku: String = row.try_get("sku")?;
    let currency: String = row.try_get("currency")?;
    let corrupt = |source| StoreError::Corrupt {
        table: "product",
        id: sku.clone(),
        source,
    };
    Ok(Product {
        unit_price: Money {
            minor: row.try_get("unit_price_minor")?,
            currency: Currency::parse(&currency).map_err(|error| corrupt(error.into()))?,
        },
        name: row.try_get("name")?,
        sku: Sku::parse(&sku).map_err(|error| corrupt(error.into()))?,
    })
}
