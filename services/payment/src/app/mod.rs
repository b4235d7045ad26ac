//! The use cases, one file each, and the worker that finishes what they open.
//!
//! A command's handler answers after its own transaction. What remains is asked of the processor by
//! the [`Worker`], under the lease that this transaction took; should the process die, any other
//! worker claims the payment when the lease is over.

mod advance_payment;
mod ask_gateway;
mod charge_payment;
mod error;
mod get_payment;
mod handover;
mod list_payments;
mod refund_payment;
mod run_worker;
mod write_down;

use std::sync::Arc;

use sqlx::PgPool;
use tercet_inbox::guard::KeptOutcome;
use tercet_outbox::Wake;

use crate::store::payments::Lease;

pub use charge_payment::ChargePayment;
pub use error::Error;
pub use handover::{Handover, Intake, handover};
pub use refund_payment::RefundPayment;
pub use run_worker::Worker;

/// What the use cases stand on. Cheap to clone.
#[derive(Debug, Clone)]
pub struct App {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: PgPool,
    /// Tells the relay of a commit.
    wake: Wake,
    topic: String,
    lease: Lease,
    handover: Handover,
}

/// How a command is acknowledged.
#[derive(Debug, Clone, PartialEq)]
pub enum Ack {
    /// Taken for the first time; the outcome goes to Kafka.
    Accepted,
    /// Taken before and still open; the work was woken.
    InProgress,
    /// Decided before.
    Decided(Box<KeptOutcome>),
}

impl App {
    /// `lease` is what this process claims payments under.
    pub fn new(pool: PgPool, wake: Wake, topic: String, lease: Lease, handover: Handover) -> Self {
        let inner = Inner {
            pool,
            wake,
            topic,
            lease,
            handover,
        };
        Self {
            inner: Arc::new(inner),
        }
    }
}
