//! A card processor to develop and test against: a subset of Stripe's HTTP API that also misbehaves.
//!
//! What it promises is what its clients rest on:
//!
//! - An answer that says "done" is durable before it is sent: a SIGKILL forgets nothing.
//! - One payment intent is captured at most once, whatever is asked and under whatever key.
//! - Refunds never exceed what was captured.
//! - An `Idempotency-Key` has one answer. The same request gets it again with
//!   `Idempotent-Replayed: true`, another request gets 400 `idempotency_error`, and a request that
//!   comes while the first is still running gets 409 `idempotency_key_in_use`.
//!
//! Which card is used decides how it misbehaves ([`cards`]), so one simulator serves tests that
//! want different trouble at the same time.
//!
//! Read in this order: [`settings`], [`startup`], `http` (one file per resource), [`cards`],
//! `model` (what a resource may become), `store` (one writer thread, one commit per batch).

pub mod cards;
mod http;
mod model;
pub mod settings;
pub mod startup;
mod store;

pub use settings::Settings;
pub use startup::{Application, StartError, build};
