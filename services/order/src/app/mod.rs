//! What the service does, one use case per file. Each owns its transaction, and runs it in a task of
//! its own: a caller that goes away never cancels one half way.

mod answer;
mod cancel_order;
pub mod end_order;
mod error;
mod get_order;
mod list_orders;
mod list_products;
mod list_sagas;
mod place_order;
mod seed_demo;
mod watch_order;

use std::sync::Arc;

use sqlx::PgPool;
use tercet_idempotency::SingleFlight;
use tercet_outbox::Wake;
use tercet_service_kit::owned;

pub use answer::Answer;
pub use cancel_order::CancelOrder;
pub use error::Error;
pub use list_orders::{ListOrders, OrderPage};
pub use list_products::{ListProducts, ProductPage};
pub use list_sagas::{ListSagas, SagaPage, SagaPosition, SagaTimeline};
pub use place_order::{PlaceOrder, Placed};
pub use seed_demo::seed_demo;
pub use watch_order::{Watch, WatchOptions, Watchers};

use crate::saga::Engine;

/// The use cases, and what they need. Cheap to clone.
#[derive(Clone, Debug)]
pub struct App {
    inner: Arc<Inner>,
}

/// What the use cases stand on.
#[derive(Debug)]
pub struct Inner {
    /// Connects as the restricted role.
    pub pool: PgPool,
    /// Starts and cancels sagas in our transactions.
    pub engine: Engine,
    /// Tells the relay of committed events.
    pub wake: Wake,
    /// Where our events go.
    pub order_topic: String,
    /// How long stock is held for an order.
    pub hold_ttl_seconds: u32,
    /// All streams of this process.
    pub watchers: Watchers,
    /// Equal calls of this process share one answer.
    pub placing: SingleFlight<Answer>,
    /// The same for cancels.
    pub cancelling: SingleFlight<Answer>,
}

impl App {
    pub fn new(inner: Inner) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Runs `work` to its end, whatever becomes of the caller.
    async fn owned<T, F>(&self, work: impl FnOnce(Self) -> F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        owned(work(self.clone())).await?
    }
}

impl std::ops::Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}
