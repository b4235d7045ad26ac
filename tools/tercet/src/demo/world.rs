//! The running system as the scenarios see it.

use std::time::Duration;

use anyhow::Context as _;
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use time::OffsetDateTime;

use super::wait::until;
use crate::{
    client::Remote,
    stack::{Broker, Databases, Part, Stack, StackOptions, Timings},
};

/// Holds for most orders outlast the demo. Whoever wants a short one places its order here.
const HASTY: Part = Part::Order(1);
const PATIENT: Part = Part::Order(0);
const HASTY_HOLD_SECONDS: &str = "3";

const CONNECTIONS_MAX: u32 = 4;
const PUBLISHED_WITHIN: Duration = Duration::from_secs(15);

/// Through which of the two order services an order is placed. Either may carry it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Via {
    /// Holds stock for minutes.
    Patient,
    /// Holds stock for seconds.
    Hasty,
}

/// The running system.
#[derive(Debug)]
pub(super) struct World {
    stack: Stack,
    patient: Remote,
    hasty: Remote,
    payments: Remote,
    inventory: Remote,
    order_database: PgPool,
    inventory_database: PgPool,
    http: reqwest::Client,
}

/// How the stack of the demo is built.
pub(super) fn options(
    postgres_url: &str,
    broker: Broker,
    name: &str,
    directory: std::path::PathBuf,
) -> StackOptions {
    StackOptions::new(postgres_url, broker, name, directory)
        .with_order_instances(2)
        .with_timings(Timings {
            // Long enough that an order that runs well shows no second asking.
            no_ack_first: Duration::from_secs(1),
            ..Timings::default()
        })
        .with_variable(HASTY, "ORDER_HOLD_TTL_SECONDS", HASTY_HOLD_SECONDS)
}

impl World {
    pub(super) fn new(stack: Stack) -> anyhow::Result<Self> {
        let Databases {
            order, inventory, ..
        } = stack.databases();
        Ok(Self {
            patient: stack.remote(PATIENT)?,
            hasty: stack.remote(HASTY)?,
            payments: stack.remote(Part::Payment)?,
            inventory: stack.remote(Part::Inventory)?,
            order_database: pool(&order.admin_url)?,
            inventory_database: pool(&inventory.admin_url)?,
            http: reqwest::Client::new(),
            stack,
        })
    }

    pub(super) fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The stack, to be ended.
    pub(super) async fn into_stack(self) -> Stack {
        self.order_database.close().await;
        self.inventory_database.close().await;
        self.stack
    }

    pub(super) fn orders(&self, via: Via) -> &Remote {
        match via {
            Via::Patient => &self.patient,
            Via::Hasty => &self.hasty,
        }
    }

    pub(super) fn payments(&self) -> &Remote {
        &self.payments
    }

    pub(super) fn inventory(&self) -> &Remote {
        &self.inventory
    }

    pub(super) fn inventory_database(&self) -> &PgPool {
        &self.inventory_database
    }

    /// Lets the processor answer a confirm that it holds back.
    pub(super) async fn release(&self, payment_id: &str) -> anyhow::Result<()> {
        let url = format!("{}/sim/release/{payment_id}", self.stack.url(Part::Gateway));
        let answer = self.http.post(&url).send().await;
        answer
            .and_then(reqwest::Response::error_for_status)
            .with_context(|| format!("POST {url}"))?;
        Ok(())
    }

    /// The time that a timeline is drawn by: the database's.
    pub(super) async fn now(&self) -> anyhow::Result<OffsetDateTime> {
        sqlx::query_scalar("SELECT clock_timestamp()")
            .fetch_one(&self.order_database)
            .await
            .context("the time of the database")
    }

    /// Waits until the broker has acknowledged every event, so that an audit finds nothing in flight.
    pub(super) async fn all_published(&self) -> anyhow::Result<()> {
        let payment = pool(&self.stack.databases().payment.admin_url)?;
        for (service, database) in [
            ("order", &self.order_database),
            ("payment", &payment),
            ("inventory", &self.inventory_database),
        ] {
            let what = format!("the {service} service's events are on Kafka");
            until(&what, PUBLISHED_WITHIN, async || {
                let pending: bool =
                    sqlx::query_scalar("SELECT EXISTS (SELECT FROM outbox_pending)")
                        .fetch_one(database)
                        .await?;
                Ok((!pending).then_some(()))
            })
            .await?;
        }
        payment.close().await;
        Ok(())
    }
}

fn pool(url: &str) -> anyhow::Result<PgPool> {
    let options: PgConnectOptions = url.parse().context("the database's URL")?;
    let pool = PgPoolOptions::new().max_connections(CONNECTIONS_MAX);
    Ok(pool.connect_lazy_with(options))
}
