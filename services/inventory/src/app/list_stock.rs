//! All stock, by SKU, a page at a time.

use super::{App, Error};
use crate::{domain::StockLevel, store::stock};

impl App {
    /// Those after `after` in SKU order, at most `limit`, and whether there are more.
    pub async fn list_stock(
        &self,
        after: String,
        limit: u32,
    ) -> Result<(Vec<StockLevel>, bool), Error> {
        let app = self.clone();
        tercet_service_kit::owned(async move {
            let mut conn = app.inner.pool.acquire().await?;
            // One more than asked for tells whether there is another page.
            let mut levels = stock::list(&mut conn, &after, i64::from(limit) + 1).await?;
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let more = levels.len() > limit;
            levels.truncate(limit);
            Ok((levels, more))
        })
        .await?
    }
}
