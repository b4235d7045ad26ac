//! The customer's side, and the warehouse's: everything here goes through the public APIs.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use sqlx::PgPool;
use tercet_cli::{
    client::Remote,
    stack::{Part, Stack},
};
use tercet_contracts::{
    inventory::v1::AdjustStockRequest,
    order::v1::{
        CancelOrderRequest, GetOrderRequest, Order, OrderLine, PlaceOrderRequest, order::State,
    },
};
use tercet_testbed::eventually;
use tonic::Status;
use uuid::Uuid;

use super::{ENDS_WITHIN, Looks};

/// What every product of these tests costs, in cents.
pub(crate) const PRICE_MINOR: i64 = 1_000;
const CURRENCY: &str = "EUR";

/// The metadata by which the order service tells that an answer was given before.
const REPLAYED: &str = "idempotent-replayed";

/// Where a test places its orders.
#[derive(Clone)]
pub(crate) struct Shop {
    /// The instances of the order service, asked in turn.
    counters: Vec<Remote>,
    turn: Arc<AtomicUsize>,
    warehouse: Remote,
    gateway_url: String,
    order_database: PgPool,
}

/// What is ordered, by which card.
#[derive(Debug, Clone)]
pub(crate) struct Basket {
    pub(crate) customer_id: String,
    pub(crate) card: &'static str,
    pub(crate) lines: Vec<(String, i64)>,
}

impl Basket {
    pub(crate) fn new(card: &'static str, lines: &[(&str, i64)]) -> Self {
        Self {
            customer_id: "ada".to_owned(),
            card,
            lines: lines
                .iter()
                .map(|(sku, quantity)| ((*sku).to_owned(), *quantity))
                .collect(),
        }
    }

    fn request(&self) -> PlaceOrderRequest {
        let line = |(sku, quantity): &(String, i64)| OrderLine {
            sku: sku.clone(),
            quantity: *quantity,
            unit_price_minor: 0,
        };
        PlaceOrderRequest {
            customer_id: self.customer_id.clone(),
            currency: CURRENCY.to_owned(),
            payment_method: self.card.to_owned(),
            lines: self.lines.iter().map(line).collect(),
            validate_only: false,
        }
    }
}

impl Shop {
    pub(super) fn of(stack: &Stack, looks: &Looks) -> Self {
        let instances = 0..stack.options().order_instances;
        Self {
            counters: instances
                .map(|instance| stack.remote(Part::Order(instance)).unwrap())
                .collect(),
            turn: Arc::default(),
            warehouse: stack.remote(Part::Inventory).unwrap(),
            gateway_url: stack.url(Part::Gateway),
            order_database: looks.order.clone(),
        }
    }

    /// Offers a product of that name, with so much of it in the house.
    pub(crate) async fn offer(&self, sku: &str, on_hand: i64) {
        // No API makes products: they belong to whoever runs the shop.
        sqlx::query(
            "INSERT INTO products (sku, name, currency, unit_price_minor) VALUES ($1, $1, $2, $3)",
        )
        .bind(sku)
        .bind(CURRENCY)
        .bind(PRICE_MINOR)
        .execute(&self.order_database)
        .await
        .unwrap();
        self.adjust(sku, on_hand).await;
    }

    /// Brings goods into the house, or takes them out.
    pub(crate) async fn adjust(&self, sku: &str, on_hand_delta: i64) {
        let request = self.warehouse.request(AdjustStockRequest {
            sku: sku.to_owned(),
            on_hand_delta,
            reason: "e2e".to_owned(),
            adjustment_id: Uuid::now_v7().to_string(),
        });
        let answer = self.warehouse.stock().adjust_stock(request).await;
        answer.unwrap_or_else(|status| panic!("{sku}: {status:?}"));
    }

    /// Places an order.
    pub(crate) async fn place(&self, card: &'static str, lines: &[(&str, i64)]) -> Order {
        let key = Uuid::now_v7().to_string();
        let answer = self.place_under(&key, &Basket::new(card, lines)).await;
        answer
            .unwrap_or_else(|status| panic!("{card}: {status:?}"))
            .0
    }

    /// Places an order under a key; tells whether the answer is one that was given before.
    pub(crate) async fn place_under(
        &self,
        key: &str,
        basket: &Basket,
    ) -> Result<(Order, bool), Status> {
        let counter = self.counter();
        let request = counter.keyed(basket.request(), key).unwrap();
        let answer = counter.orders().place_order(request).await?;
        let replayed = answer.metadata().get(REPLAYED).is_some();
        Ok((answer.into_inner().order.unwrap(), replayed))
    }

    /// Asks for an order to be cancelled.
    pub(crate) async fn cancel(&self, order_id: &str) -> Result<Order, Status> {
        let counter = self.counter();
        let message = CancelOrderRequest {
            order_id: order_id.to_owned(),
        };
        let key = Uuid::now_v7().to_string();
        let request = counter.keyed(message, &key).unwrap();
        let answer = counter.orders().cancel_order(request).await?;
        Ok(answer.into_inner().order.unwrap())
    }

    /// The order as it is.
    pub(crate) async fn order(&self, order_id: &str) -> Result<Order, Status> {
        let counter = self.counter();
        let request = counter.request(GetOrderRequest {
            order_id: order_id.to_owned(),
        });
        let answer = counter.orders().get_order(request).await?;
        Ok(answer.into_inner().order.unwrap())
    }

    /// Waits until the order has ended.
    pub(crate) async fn ended(&self, order_id: &str) -> Order {
        let what = format!("order {order_id} has ended");
        eventually(&what, ENDS_WITHIN, async || {
            let order = self.order(order_id).await.ok()?;
            has_ended(&order).then_some(order)
        })
        .await
    }

    /// Lets the processor go on with a charge that it holds; whether it knows the payment.
    pub(crate) async fn release(&self, payment_id: &str) -> bool {
        let url = format!("{}/sim/release/{payment_id}", self.gateway_url);
        let answer = reqwest::Client::new().post(url).send().await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    fn counter(&self) -> &Remote {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        &self.counters[turn % self.counters.len()]
    }
}

fn has_ended(order: &Order) -> bool {
    matches!(order.state(), State::Confirmed | State::Cancelled)
}
