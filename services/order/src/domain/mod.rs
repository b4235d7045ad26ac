//! What orders are and how they are priced: pure types and rules.
//!
//! Nothing here reads a clock, a database or the network.

mod draft;
mod ids;
mod money;
mod order;
mod product;
mod stage;
mod text;

pub use draft::{Draft, LINES_MAX, QUANTITY_MAX, Violation};
pub use ids::{EventId, InvalidId, OrderId, PaymentId, ReservationId, SagaId};
pub use money::{Currency, Money, MoneyError, UnknownCurrency};
pub use order::{
    CancelReason, MissingLine, NewOrder, Order, OrderIds, OrderState, PricedLine, UnknownState,
};
pub use product::{Product, Sku};
pub use stage::{Progress, Snapshot};
pub use text::{CustomerId, InvalidText, PaymentMethod};
