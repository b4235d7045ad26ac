//! Locks, databases that are silent, and ids that nobody knows.

use std::time::Duration;

use super::view::View;
use crate::why::{
    cause::Cause,
    facts::When,
    finding::Finding,
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
        let lock = locks.find(|lock| lock.since.is_some_and(|at| at.is_past_by(LOCKED_LONG)))?;
        Some((*service, lock))
    });
    let (service, lock) = held?;
    Some(of(view, service, lock))
}

fn of(view: &View<'_>, service: Service, lock: &Lock) -> Finding {
    let pid = lock.pid;
    let held = span(lock.since.and_then(When::ago).unwrap_or_default());
    let user = lock.user.as_deref().unwrap_or("somebody");
    let application = lock.application.as_deref().filter(|name| !name.is_empty());
    let who = application.map_or_else(|| user.to_owned(), |name| format!("{user}, {name}"));
    let waiting = match view.live {
        Some(live) => format!("{} {}", view.order_name(), live.waits()),
        None => format!("{} cannot be looked up", view.facts.asked),
    };
    let query = lock.query.as_deref().unwrap_or_default();
    let query: String = query.split_whitespace().collect::<Vec<_>>().join(" ");
    let query: String = query.chars().take(QUERY_CHARS).collect();
    let database = service.database();
    let sentence = format!(
        "{waiting}, and pid {pid} ({who}) has held {} in the {database} for {held}: {query}",
        what(lock)
    );
    let state = lock.state.as_deref().unwrap_or("in an unknown state");
    let mut finding = Finding::new(Cause::LockHeld, sentence).shown_by(
        format!("pid {pid} is {state}, its transaction began {held} ago"),
        format!("{database}, pg_locks and pg_stat_activity"),
    );
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
    let silent = services.iter().find_map(|service| {
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
