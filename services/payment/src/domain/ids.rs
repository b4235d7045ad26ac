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
    /// A payment, chosen by the saga before it asks for the charge.
    PaymentId
}
id! {
    /// The order that a payment is for.
    OrderId
}
id! {
    /// Money on its way back; the processor keeps it in the refund's metadata.
    RefundId
}
id! {
    /// An event: what consumers dedupe by.
    EventId
}

impl RefundId {
    /// A new id. `UUIDv7` keeps indexes warm; its order promises nothing.
    #[allow(
        clippy::new_without_default,
        reason = "a default that never repeats misleads"
    )]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl EventId {
    /// A new id. `UUIDv7` keeps the outbox's indexes warm; its order promises nothing.
    #[allow(
        clippy::new_without_default,
        reason = "a default that never repeats misleads"
    )]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}
