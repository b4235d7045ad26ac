//! List orders, newest first.

use super::{App, Error};
use crate::{
    domain::{CustomerId, Snapshot},
    store::{self, PagePosition},
};

/// What is asked.
#[derive(Clone, Debug)]
pub struct ListOrders {
    /// Only this customer's.
    pub customer_id: Option<CustomerId>,
    pub after: Option<PagePosition>,
    pub page_size: u32,
}

/// Some of them.
#[derive(Clone, Debug)]
pub struct OrderPage {
    pub orders: Vec<Snapshot>,
    /// Where the next page begins; none at the end.
    pub next: Option<PagePosition>,
}

impl App {
    pub async fn list_orders(&self, request: ListOrders) -> Result<OrderPage, Error> {
        self.owned(|app| async move {
            let mut conn = app.pool.acquire().await?;
            let (customer_id, after) = (request.customer_id.as_ref(), request.after);
            // One more than asked for tells whether there is a next page.
            let limit = i64::from(request.page_size) + 1;
            let orders = store::orders::list(&mut conn, customer_id, after, limit).await?;
            let (orders, more) = cut(orders, request.page_size);
            let last = orders.last().filter(|_| more);
            Ok(OrderPage {
                next: last.map(|last| PagePosition::of(&last.order)),
                orders,
            })
        })
        .await
    }
}

/// The first `size` rows, and whether there were more.
pub(super) fn cut<T>(mut rows: Vec<T>, size: u32) -> (Vec<T>, bool) {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let more = rows.len() > size;
    rows.truncate(size);
    (rows, more)
}
