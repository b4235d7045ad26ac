//! The payment service.
pub mod domain;
