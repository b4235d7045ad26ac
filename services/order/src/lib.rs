//! Orders: what is sold, the orders themselves, and the saga that drives each of them.

pub mod domain;
pub mod saga;
