//! PURE. From the [`Facts`] to the one [`Diagnosis`].
//!
//! Each rule looks at the facts alone and says whether its cause holds. They are asked in the order of
//! `RULES`: what makes the others impossible to judge first (no id, a lock, no database), then what
//! only a person can end, then whatever is nearest to the order on the way that it waits for (the
//! orchestrator, the outcome's way back, the participant, the processor), and at last what is normal.
//! The first that holds is the cause; the others are told beside it.

mod base;
mod databases;
mod held_up;
mod normal;
mod participants;
mod payment;
mod people;
#[cfg(test)]
mod tests;
mod view;
mod way_back;

use super::{
    facts::Facts,
    finding::Finding,
    report::{Also, Diagnosis},
};
use view::View;

type Rule = fn(&View<'_>) -> Option<Finding>;

/// See the module.
const RULES: [Rule; 14] = [
    databases::lock_held,
    databases::unknown_id,
    databases::down,
    people::closed,
    people::stuck,
    participants::orchestrator_down,
    way_back::awaited,
    participants::down,
    payment::open,
    participants::hold_expired,
    participants::no_ack,
    participants::engine_stalled,
    way_back::untold,
    normal::state,
];

/// Says why.
pub fn diagnose(facts: &Facts) -> Diagnosis {
    let view = View::of(facts);
    let mut findings = RULES.iter().filter_map(|rule| rule(&view));
    let first = findings
        .next()
        .unwrap_or_else(|| normal::unexplained(&view));
    let mut also: Vec<Also> = Vec::new();
    for Finding {
        cause, sentence, ..
    } in findings
    {
        let is_told = cause == first.cause || also.iter().any(|also| also.cause == cause);
        if !cause.is_normal() && !is_told {
            also.push(Also { cause, sentence });
        }
    }
    let mut evidence = first.evidence;
    for fact in base::evidence(&view) {
        if !evidence.contains(&fact) {
            evidence.push(fact);
        }
    }
    Diagnosis {
        asked: facts.asked.clone(),
        kind: facts.found.as_ref().map(|found| found.kind.noun()),
        order_id: facts.found.as_ref().map(|found| found.order_id),
        cause: first.cause,
        sentence: first.sentence,
        evidence,
        next: first.next,
        advice: first.advice,
        also,
    }
}
