//! The edge: proto in, proto out, errors that a program can act on.

mod admin;
mod convert;
mod server;
pub mod status;

pub use admin::SagaAdmin;
pub use server::Orders;
