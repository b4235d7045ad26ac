//! Payments, newest first, a page at a time.

use tercet_service_kit::owned;

use super::{App, Error};
use crate::{
    domain::{Payment, Status},
    store::payments::{self, Position},
};

impl App {
    /// Those after `after`, at most `limit`, and whether there are more.
    pub async fn list_payments(
        &self,
        status: Option<Status>,
        after: Option<Position>,
        limit: u32,
    ) -> Result<(Vec<Payment>, bool), Error> {
        let app = self.clone();
        owned(async move {
            let mut conn = app.inner.pool.acquire().await?;
            // One more than asked for tells whether there is another page.
            let one_more = i64::from(limit) + 1;
            let mut found = payments::list(&mut conn, status, after, one_more).await?;
            let more = i64::try_from(found.len()).is_ok_and(|count| count == one_more);
            found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            Ok((found, more))
        })
        .await?
    }
}
