//! Facts that every service's database has: its outbox, and who holds its rows.

use uuid::Uuid;

use super::facts::When;

/// What of one aggregate was told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outbox {
    /// The aggregate's events, oldest first; the newest few dozen.
    pub events: Vec<Event>,
}

impl Outbox {
    /// Those that the broker has not acknowledged.
    pub fn pending(&self) -> impl Iterator<Item = (&Event, &Pending)> {
        let events = self.events.iter();
        events.filter_map(|event| Some((event, event.pending.as_ref()?)))
    }

    /// The event of that id.
    pub fn event(&self, id: Uuid) -> Option<&Event> {
        self.events.iter().find(|event| event.id == id)
    }
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its id, equal to `ce_id`.
    pub id: Uuid,
    /// Its type, without the package.
    pub event_type: String,
    /// Its place among the aggregate's events.
    pub version: i64,
    /// When it was written.
    pub written: When,
    /// Set until the broker has acknowledged it.
    pub pending: Option<Pending>,
}

/// An event that waits to be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Tries that the broker refused.
    pub attempts: i32,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// When the relay gave it to a person.
    pub quarantined: Option<When>,
    /// The outbox's partition; nothing to do with Kafka's.
    pub partition: i16,
    /// Who has the lease of that partition, or had it last.
    pub owner: Option<String>,
    /// When that lease ends or ended; nothing if nobody ever had it, or it was given back.
    pub lease_until: Option<When>,
    /// Whether its owner counts as alive.
    pub owner_is_alive: bool,
}

impl Pending {
    /// Whether somebody alive has the partition now.
    pub fn is_leased(&self) -> bool {
        self.lease_until.is_some_and(|until| until.ahead_ms > 0) && self.owner_is_alive
    }
}

/// Somebody who holds a row, in a transaction that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// Of which table.
    pub table: String,
    /// Which row, by its key; nothing if it is the whole table.
    pub row: Option<String>,
    /// The server process.
    pub pid: i32,
    /// Whom it runs for.
    pub user: Option<String>,
    /// What the client calls itself.
    pub application: Option<String>,
    /// `active`, `idle in transaction`, …
    pub state: Option<String>,
    /// Its latest statement.
    pub query: Option<String>,
    /// When its transaction began.
    pub since: Option<When>,
    /// Those that wait for it now.
    pub waiting: Vec<i32>,
}
