//! The payment service: money taken once, and given back once.
//!
//! | Rule | Where it is kept |
//! |---|---|
//! | a command is decided once, and asking again gets the outcome | the guard of `tercet-inbox`, first thing in each command of `app/` |
//! | no RPC waits for the processor | `app/charge_payment.rs` ends with its transaction; the worker goes on |
//! | nothing open is forgotten, whoever dies | each open row is due and leased: `app/run_worker.rs` claims it when the lease is over |
//! | silence decides nothing | `gateway/mod.rs` tells what is certain; `app/ask_gateway.rs` concludes from that alone |
//! | an undo is decided together with the charge's answer | `domain/payment.rs`, written by `app/write_down.rs` in one transaction |
//! | a refund is asked for under the payment's id, and looked for before it is asked for again | `domain/refund.rs` |
//! | an outcome is published if and only if it happened | `store/outbox.rs`, in the same transaction |
//!
//! Files, as a charge runs through them: `grpc/server` → `grpc/convert` → `app/charge_payment` →
//! `store` ▸ commit, ack ▸ `app/advance_payment` → `app/ask_gateway` → `gateway/http` →
//! `app/write_down` → `domain/payment` → `store` → `messaging/events` → the outbox's relay.

mod app;
pub mod domain;
pub mod gateway;
mod grpc;
mod messaging;
pub mod settings;
pub mod startup;
mod store;

pub use app::{Ack, App, ChargePayment, Error, Handover, Intake, RefundPayment, Worker, handover};
pub use store::{StoreError, payments::Lease};
