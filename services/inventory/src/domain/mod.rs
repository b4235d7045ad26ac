//! What stock, holds and commands are, and what may happen to them: pure types and rules.
//!
//! Nothing here reads a clock, a database or the network. What *did* happen is said as a
//! [`ReservationEvent`]; who tells it to the world is none of this module's business.

mod event;
mod ids;
mod reservation;
mod stock;

pub use event::{Fact, ReservationEvent};
pub use ids::{AdjustmentId, EventId, InvalidId, OrderId, ReservationId};
pub use reservation::{Commit, Release, Reservation, State, UnknownState, WrongState};
pub use stock::{
    Adjustment, Basket, Delta, InvalidBasket, InvalidDelta, InvalidQuantity, InvalidSku, Line,
    MissingLine, Movement, Quantity, Sku, StockLevel,
};
