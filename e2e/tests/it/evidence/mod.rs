//! Everything that was written down about one order, wherever it was written: three databases, the
//! card processor's books, and the topics.
//!
//! What the auditor reads, too, is read by the auditor's code. Reading already asserts what must be
//! true of every order: that its events lie on the topics in version order, under the right key, with
//! the headers that readers rely on.

mod topics;

use std::collections::BTreeMap;

use serde_json::Value;
use sqlx::{PgPool, Row as _};
use tercet_cli::audit::{
    Evidence,
    evidence::{Account, Order, Payment, Reservation, Saga, Stock},
};
use tercet_contracts::order::v1;
use uuid::Uuid;

use crate::world::World;
use topics::Topics;

/// Lines of a saga's log that tell of waiting only: whether they are there is a matter of speed.
const WAITS: [&str; 5] = [
    "ASKED_AGAIN",
    "WAITING",
    "LATE_OUTCOME",
    "RESUMED",
    "EPOCH_RAISED",
];
/// Lines about the saga as a whole: the step they happened at is left out.
const OF_THE_SAGA: [&str; 5] = [
    "SAGA_STARTED",
    "CANCEL_REQUESTED",
    "TURNED_BACK",
    "COMPLETED",
    "COMPENSATED",
];

/// What became of one order.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) order: Order,
    /// `{reason, message, missing_lines}`.
    pub(crate) cancel_reason: Option<Value>,
    pub(crate) saga: Saga,
    /// The saga's log without its waits: `STEP_STARTED charge-payment`, …
    pub(crate) log: Vec<String>,
    pub(crate) payment: Option<Payment>,
    /// The processor's view of it.
    pub(crate) account: Account,
    pub(crate) reservation: Option<Reservation>,
    /// What moved for its reservation: `RESERVED TEA on_hand+0 reserved+2`, …
    pub(crate) journal: Vec<String>,
    /// Of its SKUs.
    pub(crate) stock: BTreeMap<String, Stock>,
    /// Events in version order, as they lie on the topics: `OrderPlaced`, or
    /// `StockReserved ← reserve-stock:forward` where the event is a command's final outcome.
    /// Information about a command that goes on is left out.
    pub(crate) order_events: Vec<String>,
    pub(crate) payment_events: Vec<String>,
    pub(crate) inventory_events: Vec<String>,
}

impl Story {
    /// Reads it, once all of it is published.
    pub(crate) async fn of(world: &World, order: &v1::Order) -> Self {
        world.published().await;
        let evidence = Evidence::gather(&world.stack.audit_sources())
            .await
            .unwrap();
        let topics = Topics::read(&world.stack).await;

        let id: Uuid = order.order_id.parse().unwrap();
        let order = evidence.orders[&id].clone();
        let saga = evidence.sagas[&order.saga_id].clone();
        let looks = &world.looks;
        Self {
            cancel_reason: cancel_reason(&looks.order, id).await,
            log: log(&looks.order, order.saga_id).await,
            payment: evidence.payments.get(&order.payment_id).cloned(),
            account: evidence.books.of(order.payment_id).clone(),
            reservation: evidence.reservations.get(&order.reservation_id).cloned(),
            journal: journal(&looks.inventory, order.reservation_id).await,
            stock: order
                .lines
                .keys()
                .map(|sku| (sku.clone(), evidence.stock[sku].clone()))
                .collect(),
            order_events: topics.told("order", order.id, &order),
            payment_events: topics.told("payment", order.payment_id, &order),
            inventory_events: topics.told("inventory", order.reservation_id, &order),
            order,
            saga,
        }
    }

    /// Why it was cancelled, in a word.
    pub(crate) fn reason(&self) -> &str {
        let reason = self.cancel_reason.as_ref().expect("it was not cancelled");
        reason["reason"].as_str().unwrap()
    }

    /// Goods in the house and held goods of a SKU. The journal must agree.
    pub(crate) fn stock_of(&self, sku: &str) -> (i64, i64) {
        let stock = &self.stock[sku];
        let now = (stock.on_hand, stock.reserved);
        assert_eq!(
            now,
            (stock.journal_on_hand, stock.journal_reserved),
            "{sku}"
        );
        now
    }

    /// What the payment says and what the processor says, which must be the same: state, taken,
    /// given back.
    pub(crate) fn money(&self) -> (&str, i64, i64) {
        let payment = self.payment.as_ref().expect("there is no payment");
        let ours = (payment.captured_minor, payment.refunded_minor);
        let theirs = (self.account.captured(), self.account.refunded());
        assert_eq!(ours, theirs, "the processor's books");
        assert_eq!(payment.amount_minor, self.order.total_minor);
        (&payment.state, ours.0, ours.1)
    }

    /// The keys under which money was taken and given back: what a second time would show in.
    pub(crate) fn keys(&self) -> (Vec<&str>, Vec<&str>) {
        let charges = self.account.charges.iter();
        let refunds = self.account.refunds.iter();
        (
            charges
                .filter_map(|charge| charge.idempotency_key.as_deref())
                .collect(),
            refunds
                .filter_map(|refund| refund.idempotency_key.as_deref())
                .collect(),
        )
    }

    /// The state of the reservation.
    pub(crate) fn hold(&self) -> &str {
        &self
            .reservation
            .as_ref()
            .expect("there is no reservation")
            .state
    }
}

async fn cancel_reason(pool: &PgPool, order_id: Uuid) -> Option<Value> {
    sqlx::query_scalar("SELECT cancel_reason FROM orders WHERE id = $1")
        .bind(order_id)
        .fetch_one(pool)
        .await
        .unwrap()
}

async fn log(pool: &PgPool, saga_id: Uuid) -> Vec<String> {
    let rows = sqlx::query("SELECT entry, step FROM saga_log WHERE saga_id = $1 ORDER BY seq")
        .bind(saga_id)
        .fetch_all(pool)
        .await
        .unwrap();
    let lines = rows.iter().map(|row| {
        let (entry, step): (String, String) = (row.get("entry"), row.get("step"));
        if OF_THE_SAGA.contains(&entry.as_str()) {
            entry
        } else {
            format!("{entry} {step}")
        }
    });
    let is_wait = |line: &String| WAITS.iter().any(|wait| line.starts_with(wait));
    lines.filter(|line| !is_wait(line)).collect()
}

async fn journal(pool: &PgPool, reservation_id: Uuid) -> Vec<String> {
    let rows = sqlx::query(
        "SELECT movement, sku, on_hand_delta, reserved_delta
           FROM stock_journal WHERE reservation_id = $1 ORDER BY id",
    )
    .bind(reservation_id)
    .fetch_all(pool)
    .await
    .unwrap();
    let lines = rows.iter().map(|row| {
        let (movement, sku): (String, String) = (row.get("movement"), row.get("sku"));
        let (on_hand, reserved): (i64, i64) = (row.get("on_hand_delta"), row.get("reserved_delta"));
        format!("{movement} {sku} on_hand{on_hand:+} reserved{reserved:+}")
    });
    lines.collect()
}
