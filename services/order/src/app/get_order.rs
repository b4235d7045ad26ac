//! Get an order, with where it stands.

use super::{App, Error};
use crate::{
    domain::{OrderId, Snapshot},
    store,
};

impl App {
    pub async fn get_order(&self, id: OrderId) -> Result<Snapshot, Error> {
        let found = self
            .owned(move |app| async move {
                let mut conn = app.pool.acquire().await?;
                Ok(store::orders::load(&mut conn, id).await?)
            })
            .await?;
        let order = found.ok_or(Error::OrderNotFound(id))?;
        Ok(order.snapshot)
    }
}
