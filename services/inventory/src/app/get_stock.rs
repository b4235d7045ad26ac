//! The stock of one SKU.

use super::{App, Error};
use crate::{
    domain::{Sku, StockLevel},
    store::stock,
};

impl App {
    pub async fn get_stock(&self, sku: Sku) -> Result<StockLevel, Error> {
        let app = self.clone();
        tercet_service_kit::owned(async move {
            let mut conn = app.inner.pool.acquire().await?;
            let found = stock::find(&mut conn, &sku).await?;
            found.ok_or(Error::StockNotFound(sku))
        })
        .await?
    }
}
