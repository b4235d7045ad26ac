//! More or fewer goods in the house. The same adjustment sent again has no second effect.

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
            let adjusted = stock::adjust(&mut tx, &adjustment).await;
            match &adjusted {
                Ok(Adjusted::Done(_)) => tx.commit().await?,
                _ => tx.rollback().await?, // the journal row goes with it
            }
            match adjusted? {
                Adjusted::Done(level) => Ok(level),
                Adjusted::BelowReserved(Some(level)) => Err(Error::BelowReserved(level)),
                Adjusted::BelowReserved(None) => Err(Error::StockNotFound(adjustment.sku)),
                Adjusted::IdReused => Err(Error::AdjustmentReused),
            }
        })
        .await?
    }
}
