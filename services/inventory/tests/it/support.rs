//! A house with stock in it, sagas that send commands, and the taking of stock at the end.

use std::time::Duration;

use serde_json::Value;
use sqlx::{PgPool, Row as _};
use tercet_inbox::guard::{CommandKey, KeptOutcome};
use tercet_inventory::{
    Ack, App, Error, ReserveStock,
    domain::{Adjustment, Basket, Delta, Line, Quantity, Reservation, Sku, State},
    startup::MIGRATIONS,
};
use tercet_outbox::Wake;
use tercet_testbed::{eventually, postgres::TestDatabase};
use uuid::Uuid;

pub(crate) const TOPIC: &str = "test.inventory.events.v1";
pub(crate) const HOLD_MAX: Duration = Duration::from_hours(1);

/// The service's use cases over a database of their own.
pub(crate) struct House {
    pub(crate) app: App,
    database: TestDatabase,
}

/// An event of the outbox.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Uuid,
    pub(crate) kind: String,
    pub(crate) payload: Value,
    pub(crate) headers: Value,
}

impl House {
    pub(crate) async fn with(stock: &[(&str, i64)]) -> Self {
        let database = TestDatabase::migrated("inventory", &MIGRATIONS).await;
        let pool = database.pool_as("inventory_service").await;
        let app = App::new(pool, Wake::default(), TOPIC.to_owned(), HOLD_MAX);
        let house = Self { app, database };
        for (sku, on_hand) in stock {
            house.deliver(sku, *on_hand).await.unwrap();
        }
        house
    }

    /// The superuser's: for looking, preparing, and standing in the way.
    pub(crate) fn pool(&self) -> &PgPool {
        self.database.pool()
    }

    pub(crate) fn database(&self) -> &TestDatabase {
        &self.database
    }

    pub(crate) async fn deliver(&self, sku: &str, delta: i64) -> Result<(), Error> {
        let adjustment = adjustment(Uuid::now_v7(), sku, delta);
        self.app.adjust_stock(adjustment).await.map(|_| ())
    }

    /// On hand and reserved.
    pub(crate) async fn stock(&self, wanted: &str) -> (i64, i64) {
        let level = self.app.get_stock(sku(wanted)).await.unwrap();
        (level.on_hand, level.reserved)
    }

    pub(crate) async fn reservation(&self, saga: &Saga) -> Reservation {
        let id = saga.reservation_id.into();
        self.app.get_reservation(id).await.unwrap()
    }

    pub(crate) async fn state(&self, saga: &Saga) -> State {
        self.reservation(saga).await.state
    }

    /// The reservation's events, in version order.
    pub(crate) async fn events(&self, saga: &Saga) -> Vec<Event> {
        let rows = sqlx::query(
            "SELECT event_id, event_type, payload, headers FROM outbox_events
              WHERE aggregate_id = $1 ORDER BY aggregate_version",
        )
        .bind(saga.reservation_id.to_string())
        .fetch_all(self.pool())
        .await
        .unwrap();
        let event = |row: &sqlx::postgres::PgRow| Event {
            id: row.get("event_id"),
            kind: row
                .get::<String, _>("event_type")
                .replace("tercet.events.v1.", ""),
            payload: row.get("payload"),
            headers: row.get("headers"),
        };
        rows.iter().map(event).collect()
    }

    pub(crate) async fn kinds(&self, saga: &Saga) -> Vec<String> {
        let events = self.events(saga).await;
        events.into_iter().map(|event| event.kind).collect()
    }

    /// Lets the hold's time be over.
    pub(crate) async fn overdue(&self, saga: &Saga) {
        sqlx::query("UPDATE reservations SET expires_at = now() - interval '1 s' WHERE id = $1")
            .bind(saga.reservation_id)
            .execute(self.pool())
            .await
            .unwrap();
    }

    /// The hold's time is over and the sweeper was there.
    pub(crate) async fn expired(&self, saga: &Saga) {
        self.overdue(saga).await;
        assert_eq!(self.app.expire_reservations().await.unwrap(), 1);
    }

    /// Returns when so many sessions of this database wait for another's lock.
    pub(crate) async fn waiting(&self, sessions: i64) {
        let what = format!("{sessions} sessions that wait for a lock");
        eventually(&what, Duration::from_secs(10), async || {
            let waiting: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM pg_stat_activity
                  WHERE datname = current_database() AND wait_event_type = 'Lock'",
            )
            .fetch_one(self.pool())
            .await
            .unwrap();
            (waiting == sessions).then_some(())
        })
        .await;
    }

    /// What must hold whatever was tried.
    pub(crate) async fn take_stock(&self) {
        for (what, sql) in INVARIANTS {
            let broken: Vec<String> = sqlx::query_scalar(*sql)
                .fetch_all(self.pool())
                .await
                .unwrap();
            assert!(broken.is_empty(), "{what}: {broken:?}");
        }
    }
}

/// Each query names what breaks the rule.
const INVARIANTS: &[(&str, &str)] = &[
    (
        "stock equals its journal",
        "SELECT coalesce(s.sku, j.sku) FROM stock s
           FULL JOIN (SELECT sku, sum(on_hand_delta) AS on_hand, sum(reserved_delta) AS reserved
                        FROM stock_journal GROUP BY sku) j ON j.sku = s.sku
          WHERE s.on_hand IS DISTINCT FROM j.on_hand OR s.reserved IS DISTINCT FROM j.reserved",
    ),
    (
        "reserved equals the holds",
        "SELECT s.sku FROM stock s
          WHERE reserved <> coalesce((SELECT sum(l.quantity) FROM reservation_lines l
                                        JOIN reservations r ON r.id = l.reservation_id
                                       WHERE l.sku = s.sku AND r.state = 'PENDING'), 0)",
    ),
    (
        "each version of a reservation has its event",
        "SELECT r.id::text FROM reservations r
          WHERE ARRAY (SELECT aggregate_version FROM outbox_events
                        WHERE aggregate_id = r.id::text ORDER BY 1)
                <> ARRAY (SELECT generate_series(1, r.version))",
    ),
    (
        "each command has one outcome, the one beside its guard",
        "SELECT g.command_id FROM command_guards g
          WHERE NOT (g.undone AND g.outcome IS NULL)
            AND ARRAY (SELECT event_id::text FROM outbox_events
                        WHERE headers->>'ce_commandid' = g.command_id)
                IS DISTINCT FROM ARRAY [g.outcome->>'event_id']",
    ),
];

/// Somebody's order, on its way.
#[derive(Debug, Clone)]
pub(crate) struct Saga {
    pub(crate) id: Uuid,
    pub(crate) reservation_id: Uuid,
    pub(crate) order_id: Uuid,
    pub(crate) epoch: i64,
}

impl Saga {
    pub(crate) fn new() -> Self {
        Self {
            id: Uuid::now_v7(),
            reservation_id: Uuid::now_v7(),
            order_id: Uuid::now_v7(),
            epoch: 1,
        }
    }

    /// The same saga, led by somebody else.
    pub(crate) fn at(&self, epoch: i64) -> Self {
        Self {
            epoch,
            ..self.clone()
        }
    }

    pub(crate) fn key(&self, step: &str, direction: &str) -> CommandKey {
        CommandKey {
            saga_id: self.id,
            step: step.to_owned(),
            command_id: format!("{}:{step}:{direction}", self.id),
            epoch: self.epoch,
        }
    }

    pub(crate) fn reserve_command(&self, lines: &[(&str, i64)]) -> ReserveStock {
        ReserveStock {
            command: self.key("reserve-stock", "forward"),
            reservation_id: self.reservation_id.into(),
            order_id: self.order_id.into(),
            basket: basket(lines),
            hold: Duration::from_mins(15),
        }
    }

    pub(crate) async fn reserve(&self, app: &App, lines: &[(&str, i64)]) -> Result<Ack, Error> {
        app.reserve_stock(self.reserve_command(lines)).await
    }

    pub(crate) async fn commit(&self, app: &App) -> Result<Ack, Error> {
        let key = self.key("commit-stock", "forward");
        app.commit_reservation(key, self.reservation_id.into())
            .await
    }

    pub(crate) async fn release(&self, app: &App) -> Result<Ack, Error> {
        let key = self.key("reserve-stock", "backward");
        let (reservation_id, order_id) = (self.reservation_id.into(), self.order_id.into());
        app.release_reservation(key, reservation_id, order_id).await
    }
}

pub(crate) fn sku(text: &str) -> Sku {
    Sku::parse(text).unwrap()
}

pub(crate) fn basket(lines: &[(&str, i64)]) -> Basket {
    let line = |(text, quantity): &(&str, i64)| Line {
        sku: sku(text),
        quantity: Quantity::parse(*quantity).unwrap(),
    };
    Basket::from_lines(lines.iter().map(line).collect()).unwrap()
}

pub(crate) fn adjustment(id: Uuid, text: &str, delta: i64) -> Adjustment {
    Adjustment {
        id: id.into(),
        sku: sku(text),
        delta: Delta::parse(delta).unwrap(),
        reason: "test".to_owned(),
    }
}

/// The kept outcome of a command that came again.
pub(crate) fn decided(ack: Result<Ack, Error>) -> KeptOutcome {
    match ack {
        Ok(Ack::Decided(outcome)) => *outcome,
        other => panic!("expected DECIDED, got {other:?}"),
    }
}

pub(crate) fn accepted(ack: Result<Ack, Error>) {
    assert_eq!(ack.unwrap(), Ack::Accepted);
}
