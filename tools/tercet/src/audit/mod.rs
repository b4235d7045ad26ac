//! The auditor: proves over three databases, the topics and the processor's books that what the system
//! did adds up.
//!
//! First everything is read into an [`Evidence`] ([`evidence`]: all the SQL), then each invariant is a
//! pure function over it ([`invariants`]: all the rules), then the [`Report`] is drawn. What is in
//! flight is judged by age: what changed less than `settle` ago is nobody's fault yet.

pub mod evidence;
mod finding;
pub mod invariants;
mod report;

use std::time::Duration;

pub use evidence::{Evidence, Sources, TopicSource};
pub use finding::Finding;
pub use invariants::Invariant;
pub use report::{Report, Verdict};

/// Reads everything and judges it.
pub async fn audit(sources: &Sources, settle: Duration) -> anyhow::Result<Report> {
    let evidence = Evidence::gather(sources).await?;
    Ok(judge(&evidence, settle))
}

/// Judges what was read.
pub fn judge(evidence: &Evidence, settle: Duration) -> Report {
    let verdicts = invariants::ALL.iter().map(|invariant| Verdict {
        invariant: invariant.name,
        promise: invariant.promise,
        findings: (invariant.check)(evidence, settle),
        skipped: (invariant.skips)(evidence),
    });
    Report::new(evidence, settle, verdicts.collect())
}
