//! The saga of an order.

pub mod place_order;
