//! One reservation as it is.

use super::{App, Error};
use crate::{
    domain::{Reservation, ReservationId},
    store::reservations,
};

impl App {
    pub async fn get_reservation(&self, id: ReservationId) -> Result<Reservation, Error> {
        let app = self.clone();
        tercet_service_kit::owned(async move {
            let mut conn = app.inner.pool.acquire().await?;
            let found = reservations::find(&mut conn, id).await?;
            found.ok_or(Error::ReservationNotFound(id))
        })
        .await?
    }
}
