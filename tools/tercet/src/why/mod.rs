//! Why an order is where it is: one sentence, what shows it, and what happens next.
//!
//! First everything that may matter is read, all at once and each part with a time-out
//! ([`gather`](gather()): all the I/O), then one pure function judges it
//! ([`diagnose`](diagnose()): all the rules), then the [`Report`] is drawn. The causes are
//! in [`Cause`] and in docs/why.md; a test compares the two.

pub mod broker;
pub mod cause;
pub mod diagnose;
pub mod facts;
pub mod finding;
pub mod gather;
pub mod id;
mod report;
pub mod storage;
pub(crate) mod words;

use tokio::time::Instant;

pub use cause::Cause;
pub use diagnose::diagnose;
pub use gather::{READ_WITHIN, Sources, gather};
pub use report::{Also, Diagnosis, Report};

/// Reads everything about `id`, and says why.
pub async fn why(sources: &Sources, id: &str) -> Report {
    let began = Instant::now();
    // Boxed: it holds the readers of eight places.
    let facts = Box::pin(gather(sources, id)).await;
    Report::new(diagnose(&facts), began.elapsed(), READ_WITHIN)
}
