//! Locks, databases that are silent, and ids that nobody knows.

use std::time::Duration;

use super::view::View;
use crate::why::{
    cause::Cause,
    facts::When,
    finding::Finding,
    id::{self, Asked},
    storage::Lock,
    words::{Service, span},
};

/// A row is locked for milliseconds at a time. Whatever holds one longer holds everybody up.
const LOCKED_LONG: Duration = Duration::from_secs(1);
const QUERY_CHARS: usize = 160;

pub(super) fn lock_held(view: &View<'_>) -> Option<Finding> {
    // A participant's lock matters while it is that participant's turn.
    let turn = view.live.map(|live| live.service);
    let services = [Some(Service::Order), turn];
    // An order that has ended, and is found, needs none of its rows.
    if view.live.is_none() && view.facts.found.is_some() {
        return None;
    }
    let all = [Service::Order, Service::Payment, Service::Inventory];
    let asked: Vec<Service> = if view.facts.found.is_none() {
        all.to_vec()
    } else {
        services.into_iter().flatten().collect()
    };
    let held = asked.iter().find_map(|service| {
        let mut locks = view.locks(*service).iter();
        let lock = locks.find(|lock| is_long(lock))?;
        Some((*service, lock))
    });
    let (service, lock) = held?;
    Some(of(view, service, lock))
}

/// A service sees since when its own role's sessions hold something. What it may not see is somebody
/// else's, and nobody else has any business with these rows.
fn is_long(lock: &Lock) -> bool {
    lock.since.is_none_or(|at| at.is_past_by(LOCKED_LONG))
}

fn of(view: &View<'_>, service: Service, lock: &Lock) -> Finding {
    let (pid, database) = (lock.pid, service.database());
    let user = lock.user.as_deref().unwrap_or("somebody");
    let application = lock.application.as_deref().filter(|name| !name.is_empty());
    let who = application.map_or_else(|| user.to_owned(), |name| format!("{user}, {name}"));
    let waiting = match view.live {
        Some(live) => format!("{} {}", view.order_name(), live.waits()),
        None => format!("{} cannot be looked up", view.facts.asked),
    };
    let what = what(lock);
    let (held, shown) = match lock.since.and_then(When::ago).map(span) {
        Some(since) => {
            let state = lock.state.as_deref().unwrap_or("in an unknown state");
            (
                format!(
                    "has held {what} in the {database} for {since}: {}",
                    query(lock)
                ),
                format!("pid {pid} is {state}, its transaction began {since} ago"),
            )
        }
        None => (
            format!("holds {what} in the {database}"),
            format!(
                "{user} hides from this role since when and by which statement: ask as a member of pg_monitor"
            ),
        ),
    };
    let sentence = format!("{waiting}, and pid {pid} ({who}) {held}");
    let source = format!("{database}, pg_locks and pg_stat_activity");
    let mut finding = Finding::new(Cause::LockHeld, sentence).shown_by(shown, source);
    if !lock.waiting.is_empty() {
        let pids: Vec<String> = lock.waiting.iter().map(i32::to_string).collect();
        finding = finding.shown_by(
            format!("waiting for it now: pid {}", pids.join(", ")),
            format!("{database}, pg_blocking_pids"),
        );
    }
    finding
        .next("whoever waits gives up after 2 s and tries again; all goes on once that transaction ends")
        .advise(format!(
            "end that transaction, or in the {database}: SELECT pg_terminate_backend({pid})"
        ))
}

/// Its statement in one line, and not too long a one.
fn query(lock: &Lock) -> String {
    let words = lock.query.as_deref().unwrap_or_default().split_whitespace();
    let query = words.collect::<Vec<_>>().join(" ");
    query.chars().take(QUERY_CHARS).collect()
}

fn what(lock: &Lock) -> String {
    match &lock.row {
        Some(row) => format!("the row {row} of {}", lock.table),
        None => format!("the whole table {}", lock.table),
    }
}

pub(super) fn unknown_id(view: &View<'_>) -> Option<Finding> {
    // Behind a lock, nobody can tell.
    if view.facts.found.is_some() || lock_held(view).is_some() {
        return None;
    }
    let asked = &view.facts.asked;
    let services = [Service::Order, Service::Payment, Service::Inventory];
    let may_know: &[Service] = match id::parse(asked).0 {
        // Only the order service has sagas and keys.
        Asked::Key | Asked::Command(_) => &services[..1],
        Asked::Uuid(..) => &services,
    };
    let silent = may_know.iter().find_map(|service| {
        let why = view.silence(*service)?;
        Some((service.database(), why))
    });
    Some(match silent {
        None => Finding::new(
            Cause::UnknownId,
            format!(
                "{asked} is no order, saga, payment, reservation, event, command or idempotency key \
                 that these databases know."
            ),
        )
        .advise("tercet order list shows the newest orders")
        .advise("are these the databases of that order? Events are kept for 7 days, keys for 24 h"),
        Some((database, why)) => Finding::new(
            Cause::DatabaseDown,
            format!("{asked} was not found, and the {database} was not there to ask: {why}."),
        )
        .advise(format!("start the {database}, or correct its URL (tercet why --help)")),
    })
}

pub(super) fn down(view: &View<'_>) -> Option<Finding> {
    let order = view.order_name();
    if let Some(why) = view.silence(Service::Order) {
        let sentence = format!(
            "{order} stands still, as far as can be seen: the order database does not answer: {why}."
        );
        let finding = Finding::new(Cause::DatabaseDown, sentence);
        return Some(
            finding
                .next("nothing, until it is back; then the sagas' timers go on where they were")
                .advise("start the order database, or correct ORDER_DATABASE_URL"),
        );
    }
    let live = view.live?;
    let why = view.silence(live.service)?;
    let (database, program) = (live.service.database(), live.service.program());
    let sentence = format!(
        "{order} {}, and the {database} does not answer: {why}.",
        live.waits()
    );
    Some(
        Finding::new(Cause::DatabaseDown, sentence)
            .next(live.next_action())
            .advise(format!(
                "start the {database}, or correct its URL; {program} needs it too"
            )),
    )
}
