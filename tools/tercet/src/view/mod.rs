//! What the command shows: the JSON schema (it only ever gains fields) and how each is drawn.

mod money;
mod order;
mod product;
mod saga;
mod stock;
mod text;

pub use money::money;
pub use order::{CancelView, LineView, MissingView, OrderView};
pub use product::ProductView;
pub use saga::{SagaLogView, SagaView, SagaWithLog};
pub use stock::StockView;
pub(crate) use text::{clock, state, timestamp};
