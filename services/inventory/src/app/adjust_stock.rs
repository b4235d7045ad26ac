//! More or fewer goods in the house. The same adjustment sent again has no second effect.

use sqlx::PgConnection;
use tercet_service_kit::owned;

use super::{App, Error};
use crate::{
    domain::{Adjustment, StockLevel},
    store::{stock, stock::Adjusted},
};

impl App {
    pub async fn adjust_stock(&self, adjustment: Adjustment) -> Result<StockLevel, Error> {
        let app = self.clone();
        owned(async move {
            let mut tx = app.inner.pool.begin().await?;
            let level = adjust(&mut tx, &adjustment).await;
            app.close(tx, level).await
        })
        .await?
    }
}

/// A refusal is an error, so that the journal row is rolled back with the rest.
async fn adjust(conn: &mut PgConnection, adjustment: &Adjustment) -> Result<StockLevel, Error> {
    match stock::adjust(conn, adjustment).await? {
        Adjusted::Done(level) => Ok(level),
        Adjusted::BelowReserved(Some(level)) => Err(Error::BelowReserved(level)),
        Adjusted::BelowReserved(None) => Err(Error::StockNotFound(adjustment.sku.clone())),
        Adjusted::IdReused => Err(Error::AdjustmentReused),
    }
}
