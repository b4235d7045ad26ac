//! Why an event is still in its outbox: refused, without a relay, without a broker, or slow.

use super::{view::View, way_back::ON_ITS_WAY};
use crate::why::{
    cause::Cause,
    finding::Finding,
    storage::{Event, Outbox, Pending},
    words::{Service, moment},
};

/// Why an event is still in its outbox.
pub(super) struct HeldUp {
    cause: Cause,
    /// To follow "is not published, ".
    pub(super) why: String,
    facts: Vec<(String, String)>,
    next: String,
    advice: String,
}

impl HeldUp {
    pub(super) fn finding(self, sentence: String) -> Finding {
        let mut finding = Finding::new(self.cause, sentence);
        for (fact, source) in self.facts {
            finding = finding.shown_by(fact, source);
        }
        finding.next(self.next).advise(self.advice)
    }
}

/// Why; nothing if it is about to go.
pub(super) fn held_up(
    view: &View<'_>,
    service: Service,
    outbox: &Outbox,
    event: &Event,
) -> Option<HeldUp> {
    let pending = event.pending.as_ref()?;
    let (program, database) = (service.program(), service.database());
    let written = format!(
        "event {} {} (version {}) is pending since {}",
        event.event_type,
        event.id,
        event.version,
        moment(event.written)
    );
    let mut facts = vec![(written, format!("{database}, outbox_pending"))];
    if let Some(error) = &pending.last_error {
        facts.push((
            format!("the last try: {error}"),
            format!("{database}, outbox_pending"),
        ));
    }
    let held = |cause, why: String, next: &str, advice: String| HeldUp {
        cause,
        why,
        facts: facts.clone(),
        next: next.to_owned(),
        advice,
    };
    if let Some((ahead, refused)) = quarantined_ahead(outbox, event) {
        let error = refused.last_error.as_deref().unwrap_or("no reason kept");
        let which = if ahead.id == event.id {
            "because Kafka refuses it".to_owned()
        } else {
            format!("because {} before it is refused", ahead.event_type)
        };
        return Some(held(
            Cause::QuarantinedEvent,
            format!(
                "{which} and it is quarantined after {} tries: {error}",
                refused.attempts
            ),
            "nothing by itself: neither this event nor any later one of the same aggregate is sent",
            format!(
                "mend what Kafka refuses, then let it go, in the {database}: UPDATE outbox_pending \
                 SET quarantined_at = NULL, attempts = 0, next_attempt_at = now() WHERE id IN \
                 (SELECT id FROM outbox_events WHERE event_id = '{}')",
                ahead.id
            ),
        ));
    }
    if !pending.is_leased() {
        return Some(relay_stopped(view, service, pending, facts));
    }
    if let Some(why) = view.facts.broker.silence() {
        return Some(held(
            Cause::BrokerDown,
            format!("because Kafka does not answer: {why}"),
            "the relay tries several times a second, and publishes within seconds once Kafka is back",
            "start Kafka, or correct KAFKA_BROKERS; nothing is lost meanwhile".to_owned(),
        ));
    }
    event.written.is_past_by(ON_ITS_WAY).then(|| {
        held(
            Cause::RelayBehind,
            format!("because the relay of {program} does not get rid of it"),
            "the relay goes on trying",
            format!("read the log of {program}, and tercet doctor: is the topic there?"),
        )
    })
}

/// The event itself, or a lower version of its aggregate: one is only sent after the other.
fn quarantined_ahead<'a>(outbox: &'a Outbox, event: &Event) -> Option<(&'a Event, &'a Pending)> {
    let mut ahead = outbox
        .pending()
        .filter(|(other, pending)| other.version <= event.version && pending.quarantined.is_some());
    ahead.next()
}

fn relay_stopped(
    view: &View<'_>,
    service: Service,
    pending: &Pending,
    mut facts: Vec<(String, String)>,
) -> HeldUp {
    let (program, database) = (service.program(), service.database());
    let lease = match (&pending.owner, pending.lease_until) {
        (Some(owner), Some(until)) if until.ahead_ms > 0 => {
            format!(
                "the lease is held until {} by {owner}, which is not alive",
                moment(until)
            )
        }
        (Some(owner), Some(until)) => format!("the lease of {owner} ended {}", moment(until)),
        _ => "nobody holds the lease".to_owned(),
    };
    facts.push((
        format!("outbox partition {}: {lease}", pending.partition),
        format!("{database}, outbox_partitions"),
    ));
    let dead = match view.health(service).silence() {
        Some(why) => format!("; {program} is silent: {why}"),
        None => String::new(),
    };
    HeldUp {
        cause: Cause::RelayStopped,
        why: format!(
            "because no relay works on outbox partition {}: {lease}{dead}",
            pending.partition
        ),
        facts,
        next: format!(
            "a running {program} takes the lease within seconds of its end, and publishes"
        ),
        advice: format!("start {program}; if it runs, read its log"),
    }
}
