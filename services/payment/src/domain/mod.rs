//! What payments and refunds are, and what may happen to them: pure types and rules.
//!
//! Nothing here reads a clock, a database or the network. What *did* happen is said as a
//! [`PaymentEvent`]; who tells it to the world is none of this module's business.

mod call;
mod command;
mod event;
mod ids;
mod money;
pub mod pause;
mod payment;
mod refund;
mod status;
mod text;

pub use call::{Call, Operation};
pub use command::CommandRef;
pub use event::{Answers, Fact, PaymentEvent};
pub use ids::{EventId, InvalidId, OrderId, PaymentId, RefundId};
pub use money::{Currency, Money, NotPositive, UnknownCurrency};
pub use payment::{ChargeAnswer, Decision, Payment, Undo};
pub use refund::{Listed, NextTry, Refund, RefundState};
pub use status::{Status, UnknownStatus};
pub use text::{InvalidText, PaymentMethod, Reason};
