//! Each kind of id is a type of its own, so that none can stand where another is meant.

use std::fmt;

use uuid::Uuid;

/// The text is not a UUID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be a UUID")]
pub struct InvalidId;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                Uuid::try_parse(text).map(Self).map_err(|_| InvalidId)
            }

            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A reservation, chosen by the saga before it asks for one.
    ReservationId
}
id! {
    /// The order that a reservation is for.
    OrderId
}
id! {
    /// An adjustment of stock, chosen by who adjusts: the same id has one effect.
    AdjustmentId
}
id! {
    /// An event: what consumers dedupe by.
    EventId
}

impl EventId {
    /// A new id. `UUIDv7` keeps the outbox's indexes warm; its order promises nothing.
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl Default for EventId {
    fn default() -> Self {
        Self::new()
    }
}

impl AdjustmentId {
    /// The id under which the demo's stock of `sku` arrives: the same at every start, so that it
    /// arrives once.
    pub fn of_demo_stock(sku: &str) -> Self {
        let name = format!("https://tercet.dev/demo/stock/{sku}");
        Self(Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes()))
    }
}
