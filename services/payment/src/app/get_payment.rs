//! One payment as it is.

use tercet_service_kit::owned;

use super::{App, Error};
use crate::{
    domain::{Payment, PaymentId},
    store::payments,
};

impl App {
    pub async fn get_payment(&self, id: PaymentId) -> Result<Payment, Error> {
        let app = self.clone();
        owned(async move {
            let mut conn = app.inner.pool.acquire().await?;
            let found = payments::find(&mut conn, id).await?;
            found
                .map(|record| record.payment)
                .ok_or(Error::PaymentNotFound(id))
        })
        .await?
    }
}
