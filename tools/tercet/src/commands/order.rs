//! `tercet order`: place, get, list, watch, cancel.

use std::str::FromStr;

use clap::{Args, Subcommand};
use tercet_contracts::order::v1 as pb;
use tokio_stream::StreamExt as _;

use crate::{
    client::Remote,
    commands::pages::{self, Limit, Page},
    failure::{Exit, Failure},
    ids,
    screen::{Ink, Screen},
    settings::Global,
    view::{CancelView, OrderView, money},
};

/// What to do with orders.
#[derive(Debug, Subcommand)]
pub enum Order {
    /// Place an order; a key makes the call safe to repeat
    #[command(after_help = "\
Example:
  tercet order place --customer ada --watch TEA-GREEN=2 CUP=1")]
    Place(Place),
    /// Show one order
    Get(OrderId),
    /// List orders, the newest first
    List(List),
    /// Follow one order until it has ended
    Watch(OrderId),
    /// Turn an order back; refused once its stock is being committed
    Cancel(Cancel),
}

/// A basket and who pays for it.
#[derive(Debug, Args)]
pub struct Place {
    /// What to order and how many of each
    #[arg(required = true, value_name = "SKU=QUANTITY")]
    lines: Vec<Line>,
    /// Who orders
    #[arg(long, value_name = "ID")]
    customer: String,
    /// The currency of the products (ISO-4217)
    #[arg(long, default_value = "EUR")]
    currency: String,
    /// The processor's token for the card, never a card number
    #[arg(long, value_name = "TOKEN", default_value = "pm_card_visa")]
    card: String,
    /// The idempotency key; made and printed if not given
    #[arg(long, value_name = "KEY", conflicts_with = "dry_run")]
    key: Option<String>,
    /// Check and price only: nothing is saved
    #[arg(long)]
    dry_run: bool,
    /// Follow the order until it has ended
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
}

/// Which order.
#[derive(Debug, Args)]
pub struct OrderId {
    /// The order's id
    #[arg(value_name = "ORDER_ID")]
    order_id: String,
}

/// Which orders.
#[derive(Debug, Args)]
pub struct List {
    /// Only this customer's
    #[arg(long, value_name = "ID")]
    customer: Option<String>,
    #[command(flatten)]
    limit: Limit,
}

/// Which order to turn back.
#[derive(Debug, Args)]
pub struct Cancel {
    /// The order's id
    #[arg(value_name = "ORDER_ID")]
    order_id: String,
    /// The idempotency key; made and printed if not given
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Follow the order until it has ended
    #[arg(long)]
    watch: bool,
}

/// `SKU=QUANTITY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    sku: String,
    quantity: i64,
}

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (sku, quantity) = text.split_once('=').unwrap_or((text, "1"));
        if sku.is_empty() {
            return Err("there is no SKU before the =".to_owned());
        }
        let quantity = quantity
            .parse()
            .map_err(|_| format!("{quantity:?} is not a whole number"))?;
        Ok(Self {
            sku: sku.to_owned(),
            quantity,
        })
    }
}

impl Order {
    /// Does it.
    pub async fn run(self, global: &Global, screen: &Screen) -> Result<(), Failure> {
        let remote = Remote::order(global)?;
        match self {
            Self::Place(args) => args.run(&remote, screen).await,
            Self::Get(OrderId { order_id }) => get(&remote, screen, order_id).await,
            Self::List(args) => args.run(&remote, screen).await,
            Self::Watch(OrderId { order_id }) => watch(&remote, screen, &order_id).await,
            Self::Cancel(args) => args.run(&remote, screen).await,
        }
    }
}

impl Place {
    async fn run(self, remote: &Remote, screen: &Screen) -> Result<(), Failure> {
        let key = self.key.clone().unwrap_or_else(ids::fresh_key);
        let dry_run = self.dry_run;
        let follow = self.watch;
        let message = self.into_request();
        let request = if dry_run {
            remote.request(message)
        } else {
            // Printed before the call: if no answer comes, the key is what a repeat needs.
            screen.say(&screen.talk_ink().dim(&format!("idempotency-key: {key}")));
            remote.keyed(message, &key)?
        };
        let answer = remote
            .orders()
            .place_order(request)
            .await
            .map_err(|status| {
                let failure = remote.failure("PlaceOrder", &status);
                if dry_run {
                    failure
                } else {
                    with_key(failure, &key)
                }
            })?;
        let order = order_of(answer.into_inner().order)?;
        if dry_run {
            screen.one(&order, |order, _| {
                let total = money(order.total_minor, &order.currency);
                format!("{} would cost {total}", order.basket())
            });
            return Ok(());
        }
        if follow {
            return watch(remote, screen, &order.order_id).await;
        }
        screen.one(&order, OrderView::draw);
        screen.suggest(&format!("tercet order watch {}", order.order_id));
        Ok(())
    }

    fn into_request(self) -> pb::PlaceOrderRequest {
        pb::PlaceOrderRequest {
            customer_id: self.customer,
            currency: self.currency,
            payment_method: self.card,
            lines: self
                .lines
                .into_iter()
                .map(|line| pb::OrderLine {
                    sku: line.sku,
                    quantity: line.quantity,
                    unit_price_minor: 0,
                })
                .collect(),
            validate_only: self.dry_run,
        }
    }
}

impl Cancel {
    async fn run(self, remote: &Remote, screen: &Screen) -> Result<(), Failure> {
        let key = self.key.unwrap_or_else(ids::fresh_key);
        screen.say(&screen.talk_ink().dim(&format!("idempotency-key: {key}")));
        let message = pb::CancelOrderRequest {
            order_id: self.order_id.clone(),
        };
        let answer = remote
            .orders()
            .cancel_order(remote.keyed(message, &key)?)
            .await
            .map_err(|status| with_key(remote.failure("CancelOrder", &status), &key))?;
        let order = order_of(answer.into_inner().order)?;
        if self.watch {
            return watch(remote, screen, &self.order_id).await;
        }
        screen.one(&order, OrderView::draw);
        if !order.has_ended() {
            screen.suggest(&format!("tercet order watch {}", order.order_id));
        }
        Ok(())
    }
}

impl List {
    async fn run(self, remote: &Remote, screen: &Screen) -> Result<(), Failure> {
        let customer_id = self.customer.unwrap_or_default();
        let orders = pages::collect(self.limit, async |page_size, page_token| {
            let message = pb::ListOrdersRequest {
                page_size,
                page_token,
                customer_id: customer_id.clone(),
            };
            let answer = remote.orders().list_orders(remote.request(message)).await;
            let page = answer
                .map_err(|status| remote.failure("ListOrders", &status))?
                .into_inner();
            Ok(Page {
                rows: page.orders.into_iter().map(OrderView::from).collect(),
                next_page_token: page.next_page_token,
            })
        })
        .await?;
        screen.list(&orders.rows);
        if orders.more {
            screen.suggest("there are more: --limit ROWS");
        }
        Ok(())
    }
}

async fn get(remote: &Remote, screen: &Screen, order_id: String) -> Result<(), Failure> {
    let message = pb::GetOrderRequest { order_id };
    let answer = remote.orders().get_order(remote.request(message)).await;
    let answer = answer.map_err(|status| {
        remote
            .failure("GetOrder", &status)
            .advise("tercet order list")
    })?;
    let order = order_of(answer.into_inner().order)?;
    screen.one(&order, OrderView::draw);
    screen.suggest(&format!("tercet saga show {}", order.saga_id));
    Ok(())
}

async fn watch(remote: &Remote, screen: &Screen, order_id: &str) -> Result<(), Failure> {
    let message = pb::WatchOrderRequest {
        order_id: order_id.to_owned(),
    };
    // No deadline: an order may wait minutes for a bank, and the server bounds the stream's life.
    let answer = remote.orders().watch_order(message).await;
    let mut changes = answer
        .map_err(|status| {
            remote
                .failure("WatchOrder", &status)
                .advise("tercet order list")
        })?
        .into_inner();
    let mut last = None;
    while let Some(change) = changes.next().await {
        let change = change.map_err(|status| remote.failure("WatchOrder", &status))?;
        let order = order_of(change.order)?;
        screen.next(&order, draw_change);
        last = Some(order);
    }
    match last {
        Some(order) if order.has_ended() => {
            screen.suggest(&format!("tercet saga show {}", order.saga_id));
            Ok(())
        }
        _ => Err(
            Failure::new(Exit::Unreachable, "the stream ended before the order did")
                .advise(format!("tercet order watch {order_id}")),
        ),
    }
}

fn draw_change(order: &OrderView, ink: Ink) -> String {
    let why = order
        .cancel_reason
        .as_ref()
        .map_or_else(|| order.stage.clone(), CancelView::sentence);
    let pad = " ".repeat(10_usize.saturating_sub(order.state.len()));
    format!("{}{pad} {why}", order.state_in(ink))
        .trim_end()
        .to_owned()
}

fn order_of(order: Option<pb::Order>) -> Result<OrderView, Failure> {
    order
        .map(OrderView::from)
        .ok_or_else(|| Failure::new(Exit::Failed, "the order service answered without an order"))
}

// Whoever got no answer must not guess: the same key gives the first call's answer.
fn with_key(failure: Failure, key: &str) -> Failure {
    if failure.exit == Exit::Unreachable {
        failure.advise(format!(
            "repeat it with --key {key}: it has one effect only"
        ))
    } else {
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_sku_and_a_quantity() {
        let line = |text: &str| text.parse::<Line>();
        assert_eq!(
            line("CUP=3"),
            Ok(Line {
                sku: "CUP".into(),
                quantity: 3
            })
        );
        assert_eq!(
            line("CUP"),
            Ok(Line {
                sku: "CUP".into(),
                quantity: 1
            })
        );
        assert_eq!(
            line("CUP=many").unwrap_err(),
            "\"many\" is not a whole number"
        );
        assert!(line("=3").is_err());
    }

    #[test]
    fn a_call_without_answer_is_repeated_under_its_key() {
        let failure = with_key(Failure::new(Exit::Unreachable, "no answer"), "k-1");
        assert_eq!(
            failure.advice,
            ["repeat it with --key k-1: it has one effect only"]
        );
        let refused = with_key(Failure::new(Exit::Refused, "no"), "k-1");
        assert!(refused.advice.is_empty());
    }
}
