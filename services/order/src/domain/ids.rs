//! Each kind of id is a type of its own, so that none can stand where another is meant.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The text is not a UUID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be a UUID")]
pub struct InvalidId;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A new one. `UUIDv7` keeps indexes warm; its order promises nothing.
            #[allow(clippy::new_without_default, reason = "a default that never repeats misleads")]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }

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
    /// An order.
    OrderId
}
id! {
    /// One run of a saga.
    SagaId
}
id! {
    /// The payment of an order, chosen and saved before the charge is asked for.
    PaymentId
}
id! {
    /// The hold on the stock of an order, chosen and saved before it is asked for.
    ReservationId
}
id! {
    /// An event: what consumers dedupe by.
    EventId
}
