//! Place an order: claim the key, price the basket, save the order, start its saga. One commit.

use tercet_crash_point::crash_point;
use tercet_idempotency::{Claim, Fingerprint, Key, RequestHash};
use tercet_outbox::enqueue;
use tercet_saga::Direction;
use tercet_saga_postgres::SagaRef;
use tercet_telemetry::propagation;

use super::{Answer, App, Error, answer};
use crate::{
    domain::{Draft, NewOrder, Order, OrderIds, Progress, Snapshot},
    messaging::events,
    saga::place_order::{OrderInProgress, RESERVE_STOCK},
    store,
};

const METHOD: &str = "PlaceOrder";

/// What is asked.
#[derive(Clone, Debug)]
pub enum PlaceOrder {
    /// Check and price only. Also what becomes of a request without a usable key: its draft carries
    /// that violation, so it is told together with all others.
    Check(Draft),
    /// Place it, once for this key.
    Once(Draft, Key),
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Placed {
    /// Fit to be placed; nothing was saved.
    Checked(NewOrder),
    /// Saved, now or by an earlier call.
    Saved(Box<Answer>),
}

impl Placed {
    /// The work was done by an earlier call with the same key.
    pub fn is_replayed(&self) -> bool {
        matches!(self, Self::Saved(answer) if answer.replayed)
    }
}

impl App {
    pub async fn place_order(&self, request: PlaceOrder) -> Result<Placed, Error> {
        match request {
            PlaceOrder::Check(draft) => self
                .owned(|app| async move { app.check(&draft).await })
                .await
                .map(Placed::Checked),
            PlaceOrder::Once(draft, key) => {
                let claim = answer::claim(METHOD, key, fingerprint(&draft));
                let work = || {
                    let claim = claim.clone();
                    self.owned(|app| async move { app.place(&claim, &draft).await })
                };
                let answer = answer::land(self.placing.run(&claim, work).await)?;
                Ok(Placed::Saved(Box::new(answer)))
            }
        }
    }

    async fn check(&self, draft: &Draft) -> Result<NewOrder, Error> {
        let mut conn = self.pool.acquire().await?;
        let products = store::products::find(&mut conn, &draft.skus()).await?;
        draft.price(&products).map_err(Error::Invalid)
    }

    /// Any error rolls all of it back, the key too: a caller that mends its request may keep its key.
    async fn place(&self, claim: &Claim, draft: &Draft) -> Result<Answer, Error> {
        let mut tx = self.pool.begin().await?;
        if let Some(earlier) = answer::replay(&mut tx, claim).await? {
            return Ok(earlier);
        }
        let products = store::products::find(&mut tx, &draft.skus()).await?;
        let new_order = draft.price(&products).map_err(Error::Invalid)?;
        let order = store::orders::insert(&mut tx, OrderIds::new(), new_order).await?;

        let saga = SagaRef {
            saga_id: order.saga_id.uuid(),
            subject_id: order.id.uuid(),
            traceparent: propagation::current_headers().remove("traceparent"),
        };
        let data = in_progress(&order, self.hold_ttl_seconds);
        let follow_up = self.engine.start(&mut tx, saga, data).await?;
        enqueue(&mut tx, events::placed(&order, &self.order_topic)?).await?;
        let answer = answer::keep(&mut tx, claim, started(order)).await?;
        tx.commit().await?;
        crash_point!("order.after_place_commit");

        self.wake.notify();
        self.engine.follow_up(follow_up);
        Ok(answer)
    }
}

/// What every step and every undo is made from.
fn in_progress(order: &Order, hold_ttl_seconds: u32) -> OrderInProgress {
    let line = |line: &crate::domain::PricedLine| (line.sku.clone(), line.quantity);
    OrderInProgress {
        order_id: order.id,
        reservation_id: order.reservation_id,
        payment_id: order.payment_id,
        lines: order.lines.iter().map(line).collect(),
        hold_ttl_seconds,
        total_minor: order.total_minor,
        currency: order.currency,
        payment_method: order.payment_method.clone(),
    }
}

/// The order as it stands at its first step.
fn started(order: Order) -> Snapshot {
    let first = Progress {
        step: RESERVE_STOCK.to_owned(),
        direction: Direction::Forward,
        stuck_reason: None,
    };
    Snapshot::new(order, Some(&first))
}

/// Over what was asked for, as it was sent. The order of these fields is kept for ever.
fn fingerprint(draft: &Draft) -> RequestHash {
    let start = Fingerprint::new()
        .field("customer_id", &draft.customer_id)
        .field("currency", &draft.currency)
        .field("payment_method", &draft.payment_method)
        .count("lines", draft.lines.len());
    draft
        .lines
        .iter()
        .fold(start, |hash, (sku, quantity)| {
            hash.field("sku", sku)
                .field("quantity", quantity.to_string())
        })
        .finish()
}
