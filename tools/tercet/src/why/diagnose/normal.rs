//! What needs nobody: ended, or on its way.

use super::view::View;
use crate::why::{
    cause::Cause,
    finding::Finding,
    words::{awaited, moment, span},
};

pub(super) fn state(view: &View<'_>) -> Option<Finding> {
    let order = view.order?;
    let name = view.order_name();
    match (order.state.as_str(), view.live) {
        ("CONFIRMED", None) => Some(
            Finding::new(
                Cause::Confirmed,
                format!(
                    "{name} is CONFIRMED since {}: paid, and its stock is sold.",
                    moment(order.changed)
                ),
            )
            .next("nothing: it has ended"),
        ),
        ("CANCELLED", None) => {
            let reason = order.cancel_reason.as_deref().unwrap_or("no reason");
            let message = order.cancel_message.as_deref().unwrap_or_default();
            let message = message.trim_end_matches('.');
            let why = if message.is_empty() {
                reason.to_owned()
            } else {
                format!("{message} ({reason})")
            };
            let sentence = format!(
                "{name} is CANCELLED since {}: {why}; nothing is held, and no money is kept.",
                moment(order.changed)
            );
            Some(Finding::new(Cause::Cancelled, sentence).next("nothing: it has ended"))
        }
        (_, Some(live)) => {
            let since = span(live.saga.step_since.ago().unwrap_or_default());
            let (cause, going) = if live.saga.status == "COMPENSATING" {
                let because = live.saga.failure_reason.as_deref().unwrap_or("no reason");
                (
                    Cause::Compensating,
                    format!("is being undone because of {because} and "),
                )
            } else {
                (Cause::Running, String::new())
            };
            let sentence = format!(
                "{name} {going}waits for {} since {since}; nothing holds it up.",
                awaited(live.saga)
            );
            Some(Finding::new(cause, sentence).next(live.next_action()))
        }
        _ => None,
    }
}

/// The net under all rules.
pub(super) fn unexplained(view: &View<'_>) -> Finding {
    let state = view.order.map_or("unknown", |order| order.state.as_str());
    let sentence = format!(
        "{} is {state}, and no rule explains why: this is worth a report.",
        view.order_name()
    );
    Finding::new(Cause::Unexplained, sentence).advise("tercet audit, and tercet saga show ID")
}
