//! List what can be ordered, by SKU.

use super::{App, Error, list_orders::cut};
use crate::{domain::Product, store};

/// What is asked.
#[derive(Clone, Debug)]
pub struct ListProducts {
    /// The last SKU of the page before.
    pub after: Option<String>,
    pub page_size: u32,
}

/// Some of them.
#[derive(Clone, Debug)]
pub struct ProductPage {
    pub products: Vec<Product>,
    /// Where the next page begins; none at the end.
    pub next: Option<String>,
}

impl App {
    pub async fn list_products(&self, request: ListProducts) -> Result<ProductPage, Error> {
        self.owned(|app| async move {
            let mut conn = app.pool.acquire().await?;
            let limit = i64::from(request.page_size) + 1;
            let after = request.after.as_deref();
            let products = store::products::list(&mut conn, after, limit).await?;
            let (products, more) = cut(products, request.page_size);
            let last = products.last().filter(|_| more);
            Ok(ProductPage {
                next: last.map(|last| last.sku.to_string()),
                products,
            })
        })
        .await
    }
}
