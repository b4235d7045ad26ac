//! The use cases, one file each. A write runs in a task of its own (`owned`): the transaction goes on
//! when the caller's deadline passes or its connection breaks.

mod adjust_stock;
mod commit_reservation;
mod error;
mod expire_reservations;
mod get_reservation;
mod get_stock;
mod list_stock;
mod release_reservation;
mod reserve_stock;
mod seed_demo;

use std::{sync::Arc, time::Duration};

use sqlx::{PgPool, Postgres, Transaction};
use tercet_inbox::guard::{Admission, BackwardAdmission, KeptOutcome};
use tercet_outbox::Wake;

pub use error::Error;
pub use expire_reservations::sweep;
pub use reserve_stock::ReserveStock;

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
    hold_max: Duration,
}

/// How a command is acknowledged.
#[derive(Debug, Clone, PartialEq)]
pub enum Ack {
    /// Taken for the first time; the outcome goes to Kafka.
    Accepted,
    /// Decided before.
    Decided(Box<KeptOutcome>),
}

impl App {
    /// `hold_max` caps what a saga may ask for.
    pub fn new(pool: PgPool, wake: Wake, topic: String, hold_max: Duration) -> Self {
        let inner = Inner {
            pool,
            wake,
            topic,
            hold_max,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Ends a use case's transaction by what it came to, and wakes the relay after the commit.
    ///
    /// A duplicate commits too: the guard may have learnt a higher epoch from it. The rollback is
    /// awaited: one that is only dropped keeps its locks until a spawned task gets a turn.
    async fn close<T>(
        &self,
        tx: Transaction<'static, Postgres>,
        result: Result<T, Error>,
    ) -> Result<T, Error> {
        match result {
            Ok(value) => {
                tx.commit().await?;
                self.inner.wake.notify();
                Ok(value)
            }
            Err(error) => {
                if let Err(rollback) = tx.rollback().await {
                    tracing::debug!(error = %rollback, "no rollback; the session's end will do");
                }
                Err(error)
            }
        }
    }
}

/// Why a command that is not fresh is answered without being looked at. Every command of this service
/// is decided in its first transaction, so a guard without an outcome cannot be.
fn not_fresh(admission: Admission) -> Result<Ack, Error> {
    match admission {
        Admission::Decided(outcome) => Ok(Ack::Decided(Box::new(outcome))),
        Admission::Undone => Err(Error::AlreadyUndone),
        Admission::StaleEpoch { highest } => Err(Error::StaleEpoch { highest }),
        Admission::Fresh | Admission::Open => Err(Error::Undecided),
    }
}

fn not_fresh_backward(admission: BackwardAdmission) -> Result<Ack, Error> {
    match admission {
        BackwardAdmission::Decided(outcome) => Ok(Ack::Decided(Box::new(outcome))),
        BackwardAdmission::StaleEpoch { highest } => Err(Error::StaleEpoch { highest }),
        BackwardAdmission::Fresh { .. } | BackwardAdmission::Open => Err(Error::Undecided),
    }
}
