//! What a scenario can do and see. It remembers the order, so that its timeline can be drawn even if
//! the scenario fails half way.

use std::{sync::Mutex, time::Duration};

use anyhow::{Context as _, bail};
use backon::{ExponentialBuilder, Retryable as _};
use tercet_contracts::{inventory::v1 as inventory, order::v1 as orders};
use tonic::{Code, Response, Status};

use super::{
    facts::{self, Paid},
    wait::until,
    world::{Via, World},
};
use crate::{
    client::Remote,
    history, ids,
    screen::Tone,
    timeline::{Moment, Who},
    view::{OrderView, StockView},
};

/// No order of the demo needs more, on a slow machine neither.
const ENDS_WITHIN: Duration = Duration::from_secs(40);
const COMES_WITHIN: Duration = Duration::from_secs(20);
const TRIES_MAX: usize = 12;

/// One scenario's view of the world.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    world: &'a World,
    customer: String,
    seen: Mutex<Seen>,
}

/// What is drawn afterwards.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) order: Option<OrderView>,
    /// What the scenario itself did.
    pub(super) moments: Vec<Moment>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(world: &'a World, name: &str) -> Self {
        Self {
            world,
            customer: format!("demo-{name}"),
            seen: Mutex::default(),
        }
    }

    pub(super) fn world(&self) -> &'a World {
        self.world
    }

    pub(super) fn into_seen(self) -> Seen {
        self.seen.into_inner().unwrap_or_default()
    }

    /// Places an order through the order service that holds stock for minutes.
    pub(super) async fn place(
        &self,
        basket: &[(&str, i64)],
        card: &str,
    ) -> anyhow::Result<OrderView> {
        self.place_via(Via::Patient, basket, card, &ids::fresh_key())
            .await
    }

    /// Places an order, again under the same key if the service asks for patience.
    pub(super) async fn place_via(
        &self,
        via: Via,
        basket: &[(&str, i64)],
        card: &str,
        key: &str,
    ) -> anyhow::Result<OrderView> {
        let remote = self.world.orders(via);
        let message = self.basket(basket, card);
        let answer = patiently(async || {
            let request = keyed(remote, message.clone(), key)?;
            remote.orders().place_order(request).await
        });
        let answer = answer.await.context("PlaceOrder")?.into_inner();
        let order = OrderView::from(
            answer
                .order
                .context("PlaceOrder answered without an order")?,
        );
        self.remember(&order);
        Ok(order)
    }

    /// The order as it is now.
    pub(super) async fn order(&self, order_id: &str) -> anyhow::Result<OrderView> {
        let message = orders::GetOrderRequest {
            order_id: order_id.to_owned(),
        };
        let remote = self.world.orders(Via::Patient);
        let answer = remote.orders().get_order(remote.request(message)).await;
        let order = answer.context("GetOrder")?.into_inner().order;
        Ok(order.context("GetOrder answered without an order")?.into())
    }

    /// The order when it has ended.
    pub(super) async fn ended(&self, order_id: &str) -> anyhow::Result<OrderView> {
        let order = until("the order ends", ENDS_WITHIN, async || {
            let order = self.order(order_id).await?;
            self.remember(&order);
            Ok(order.has_ended().then_some(order))
        });
        order.await
    }

    /// Turns the order back.
    pub(super) async fn cancel(&self, order_id: &str) -> anyhow::Result<OrderView> {
        self.tell("cancels the order").await?;
        let message = orders::CancelOrderRequest {
            order_id: order_id.to_owned(),
        };
        let remote = self.world.orders(Via::Patient);
        let key = ids::fresh_key();
        let answer = patiently(async || {
            let request = keyed(remote, message.clone(), &key)?;
            remote.orders().cancel_order(request).await
        });
        let order = answer.await.context("CancelOrder")?.into_inner().order;
        Ok(order
            .context("CancelOrder answered without an order")?
            .into())
    }

    /// All orders of this scenario's customer.
    pub(super) async fn orders_of_customer(&self) -> anyhow::Result<Vec<OrderView>> {
        let message = orders::ListOrdersRequest {
            customer_id: self.customer.clone(),
            ..orders::ListOrdersRequest::default()
        };
        let remote = self.world.orders(Via::Patient);
        let answer = remote.orders().list_orders(remote.request(message)).await;
        let orders = answer.context("ListOrders")?.into_inner().orders;
        Ok(orders.into_iter().map(OrderView::from).collect())
    }

    /// Waits until the payment is in one of `states`.
    pub(super) async fn payment_is(
        &self,
        order: &OrderView,
        states: &[&str],
    ) -> anyhow::Result<Paid> {
        let what = format!("the payment is {}", states.join(" or "));
        let paid = until(&what, COMES_WITHIN, async || {
            let paid = facts::paid(self.world, &order.payment_id).await?;
            Ok(paid.filter(|paid| states.contains(&paid.state.as_str())))
        });
        paid.await
    }

    /// Waits until the hold is in `state`.
    pub(super) async fn hold_is(&self, order: &OrderView, state: &str) -> anyhow::Result<()> {
        let what = format!("the hold is {state}");
        let hold = until(&what, COMES_WITHIN, async || {
            let found = facts::reservation_state(self.world, &order.reservation_id).await?;
            Ok((found == state).then_some(()))
        });
        hold.await
    }

    /// What lies on the shelf.
    pub(super) async fn stock(&self, sku: &str) -> anyhow::Result<StockView> {
        let message = inventory::GetStockRequest {
            sku: sku.to_owned(),
        };
        let remote = self.world.inventory();
        let answer = remote.stock().get_stock(remote.request(message)).await;
        let stock = answer.context("GetStock")?.into_inner().stock;
        Ok(stock.context("GetStock answered without a stock")?.into())
    }

    /// Takes goods off the shelf that nobody ordered.
    pub(super) async fn take_away(
        &self,
        sku: &str,
        quantity: i64,
        reason: &str,
    ) -> anyhow::Result<()> {
        self.tell(&format!("{reason}: {quantity} × {sku} leaves the shelf"))
            .await?;
        let message = inventory::AdjustStockRequest {
            sku: sku.to_owned(),
            on_hand_delta: -quantity,
            reason: reason.to_owned(),
            adjustment_id: ids::fresh().to_string(),
        };
        let remote = self.world.inventory();
        let answer = patiently(async || {
            let request = remote.request(message.clone());
            remote.stock().adjust_stock(request).await
        });
        answer.await.context("AdjustStock")?;
        Ok(())
    }

    /// Whether a call to the processor was left without an answer.
    pub(super) async fn processor_was_silent(&self, order: &OrderView) -> anyhow::Result<bool> {
        let order_id = order.order_id.parse().context("the order's id")?;
        let history = history::of_order(self.world.stack().databases(), order_id).await?;
        let mut calls = history.moments().iter();
        Ok(calls.any(|call| call.who == Who::Gateway && call.tone == Tone::Warn))
    }

    /// Lets the processor answer a confirm that it holds back.
    pub(super) async fn release(&self, order: &OrderView) -> anyhow::Result<()> {
        self.tell("the card processor comes back to life").await?;
        self.world.release(&order.payment_id).await
    }

    /// Writes a moment into the timeline.
    pub(super) async fn tell(&self, what: &str) -> anyhow::Result<()> {
        let moment = Moment::new(self.world.now().await?, Who::Client, what);
        self.change(|seen| seen.moments.push(moment));
        Ok(())
    }

    pub(super) fn basket(&self, basket: &[(&str, i64)], card: &str) -> orders::PlaceOrderRequest {
        let lines = basket.iter().map(|&(sku, quantity)| orders::OrderLine {
            sku: sku.to_owned(),
            quantity,
            unit_price_minor: 0,
        });
        orders::PlaceOrderRequest {
            customer_id: self.customer.clone(),
            currency: "EUR".to_owned(),
            payment_method: card.to_owned(),
            lines: lines.collect(),
            validate_only: false,
        }
    }

    fn remember(&self, order: &OrderView) {
        self.change(|seen| seen.order = Some(order.clone()));
    }

    fn change(&self, change: impl FnOnce(&mut Seen)) {
        // A scenario that panicked while it held the lock draws nothing anyway.
        if let Ok(mut seen) = self.seen.lock() {
            change(&mut seen);
        }
    }
}

fn keyed<T>(remote: &Remote, message: T, key: &str) -> Result<tonic::Request<T>, Status> {
    let request = remote.keyed(message, key);
    request.map_err(|failure| Status::invalid_argument(failure.what))
}

/// Sends a call again while the service asks for it. It must have one effect however often it is sent.
async fn patiently<T>(
    call: impl AsyncFn() -> Result<Response<T>, Status>,
) -> anyhow::Result<Response<T>> {
    let pauses = ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(20))
        .with_max_delay(Duration::from_secs(1))
        .with_max_times(TRIES_MAX)
        .with_jitter();
    let answer = (|| call())
        .retry(pauses)
        .when(|status: &Status| matches!(status.code(), Code::Aborted | Code::Unavailable))
        .await;
    match answer {
        Ok(answer) => Ok(answer),
        Err(status) => bail!("{:?}: {}", status.code(), status.message()),
    }
}
