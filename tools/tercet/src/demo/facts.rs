//! What is so about one order: asked of each service by its own API, of the processor by its books, and
//! of the stock's journal, which tells one order's movements from all others.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use sqlx::Row as _;
use tercet_contracts::{inventory::v1 as inventory, payment::v1 as payment};
use tonic::{Code, Status};
use uuid::Uuid;

use super::world::World;
use crate::{
    audit::evidence::{Account, Books},
    stack::Part,
    view::{OrderView, state},
};

/// What is so about one order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) order: OrderView,
    /// What the payment service says, if it has heard of it.
    pub(super) payment: Option<Paid>,
    /// What the processor says.
    pub(super) account: Account,
    /// The reservation's state; `none` if there is none.
    pub(super) reservation: String,
    /// All movements of stock for this order, summed by SKU.
    pub(super) moved: BTreeMap<String, Movement>,
}

/// A payment as its service knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Paid {
    pub(super) state: String,
    pub(super) captured_minor: i64,
    pub(super) refunded_minor: i64,
}

/// What an order did to the stock of a SKU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Movement {
    pub(super) on_hand: i64,
    pub(super) reserved: i64,
}

impl Facts {
    /// Asks everyone.
    pub(super) async fn gather(world: &World, order: OrderView) -> anyhow::Result<Self> {
        let payment_id: Uuid = order.payment_id.parse().context("the order's payment")?;
        let books = Books::fetch(&world.stack().url(Part::Gateway)).await?;
        Ok(Self {
            payment: paid(world, &order.payment_id).await?,
            account: books.of(payment_id).clone(),
            reservation: reservation_state(world, &order.reservation_id).await?,
            moved: moved(world, &order.reservation_id).await?,
            order,
        })
    }

    /// The payment's state, or `none`.
    pub(super) fn payment_state(&self) -> String {
        let state = self.payment.as_ref().map(|payment| payment.state.clone());
        state.unwrap_or_else(|| "none".to_owned())
    }

    pub(super) fn currency(&self) -> &str {
        &self.order.currency
    }
}

/// What the payment service says of a payment; nothing if it never heard of it.
pub(super) async fn paid(world: &World, payment_id: &str) -> anyhow::Result<Option<Paid>> {
    let message = payment::GetPaymentRequest {
        payment_id: payment_id.to_owned(),
    };
    let remote = world.payments();
    let answer = remote.payments().get_payment(remote.request(message)).await;
    let answer = there(answer).context("GetPayment")?;
    let payment = answer.and_then(|answer| answer.payment);
    Ok(payment.map(|payment| Paid {
        state: state(payment.state().as_str_name(), "STATE_"),
        captured_minor: payment.captured_minor,
        refunded_minor: payment.refunded_minor,
    }))
}

/// A reservation's state, or `none`.
pub(super) async fn reservation_state(world: &World, id: &str) -> anyhow::Result<String> {
    let message = inventory::GetReservationRequest {
        reservation_id: id.to_owned(),
    };
    let remote = world.inventory();
    let answer = remote
        .stock()
        .get_reservation(remote.request(message))
        .await;
    let answer = there(answer).context("GetReservation")?;
    let reservation = answer.and_then(|answer| answer.reservation);
    Ok(reservation.map_or_else(
        || "none".to_owned(),
        |reservation| state(reservation.state().as_str_name(), "STATE_"),
    ))
}

fn there<T>(answer: Result<tonic::Response<T>, Status>) -> anyhow::Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer.into_inner())),
        Err(status) if status.code() == Code::NotFound => Ok(None),
        Err(status) => bail!("{:?}: {}", status.code(), status.message()),
    }
}

const MOVED: &str = "
    SELECT sku, sum(on_hand_delta)::bigint AS on_hand, sum(reserved_delta)::bigint AS reserved
      FROM stock_journal WHERE reservation_id = $1 GROUP BY sku";

async fn moved(world: &World, reservation_id: &str) -> anyhow::Result<BTreeMap<String, Movement>> {
    let id: Uuid = reservation_id.parse().context("the order's reservation")?;
    let rows = sqlx::query(MOVED)
        .bind(id)
        .fetch_all(world.inventory_database())
        .await
        .context("the stock's journal")?;
    let moved = rows.iter().map(|row| {
        let movement = Movement {
            on_hand: row.try_get("on_hand")?,
            reserved: row.try_get("reserved")?,
        };
        Ok((row.try_get("sku")?, movement))
    });
    moved.collect()
}

#[cfg(test)]
impl Default for Facts {
    fn default() -> Self {
        Self {
            order: tercet_contracts::order::v1::Order::default().into(),
            payment: None,
            account: Account::default(),
            reservation: String::new(),
            moved: BTreeMap::new(),
        }
    }
}
