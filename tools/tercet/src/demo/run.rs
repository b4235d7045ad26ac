//! From nothing to a verdict: servers, stack, scenarios side by side, audit, and everything ended in
//! order, whatever happened in between.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use futures::{StreamExt as _, stream::FuturesUnordered};

use super::{
    backends::{Backends, Wanted},
    facts::Facts,
    keep::Doors,
    report::{Addresses, Report, Told},
    scenarios::{self, Played, Scenario},
    scene::{Scene, Seen},
    world::{self, World},
};
use crate::{
    audit,
    failure::{Exit, Failure},
    history, ids,
    screen::{Progress, Screen},
    signals,
    stack::{Part, Stack, Stage},
    timeline::Timeline,
};

/// Above every wait of a scenario, below anyone's patience; it also ends streams that never end.
const PLAYED_WITHIN: Duration = Duration::from_secs(45);

/// Runs the demo. With `keep` the system stays up afterwards, until Ctrl-C.
pub async fn run(wanted: Wanted, keep: bool, screen: &Screen) -> Result<(), Failure> {
    let name = ids::run_name("demo");
    let directory = std::env::temp_dir().join(format!("tercet-{name}"));
    let begun = Instant::now();
    let world = tokio::select! {
        started = start(wanted, &name, &directory, screen) => started,
        () = signals::ended_by_person() => return Err(interrupted()),
    };
    let (backends, world) = world.map_err(|error| could_not_start(error, &directory))?;

    let told = tokio::select! {
        report = play_all(&world, screen) => Ok(show(report, &world, begun, keep, screen).await),
        () = signals::ended_by_person() => Err(interrupted()),
    };
    let ended = end(world, screen).await;
    // After the services: they drain into these.
    drop(backends);
    let result = match (told, ended) {
        (Ok(report), Ok(())) if report.ok => Ok(()),
        (Ok(report), Ok(())) => Err(faults(&report)),
        (Err(failure), _) => Err(failure),
        (Ok(_), Err(error)) => Err(error.context("the system did not end in order").into()),
    };
    match result {
        Ok(()) => {
            // Nobody needs the logs of what went well.
            let _ = std::fs::remove_dir_all(&directory);
            Ok(())
        }
        Err(failure) => Err(failure.advise(format!("read the logs in {}", directory.display()))),
    }
}

async fn start(
    wanted: Wanted,
    name: &str,
    directory: &Path,
    screen: &Screen,
) -> anyhow::Result<(Backends, World)> {
    let backends = Backends::start(wanted, screen).await?;
    let broker = backends.broker.clone();
    let options = world::options(&backends.postgres_url, broker, name, directory.to_owned());
    let mut current: Option<Progress> = None;
    let stack = Stack::start_watched(options, |stage| match stage {
        Stage::Begins(what) => current = Some(screen.progress(what)),
        Stage::Done(_) => {
            if let Some(progress) = current.take() {
                progress.done("");
            }
        }
    })
    .await;
    if let Some(progress) = current.take() {
        progress.failed();
    }
    Ok((backends, World::new(stack?)?))
}

/// Plays all scenarios at the same time, then audits.
async fn play_all(world: &World, screen: &Screen) -> Report {
    let progress = screen.progress("eight orders");
    let mut playing: FuturesUnordered<_> = scenarios::ALL
        .iter()
        .enumerate()
        .map(|(place, scenario)| play(place + 1, scenario, world))
        .collect();
    let mut told = Vec::new();
    while let Some(one) = playing.next().await {
        told.push(one);
        progress.note(&format!("{} of {} ended", told.len(), scenarios::ALL.len()));
    }
    told.sort_by_key(|told: &Told| told.number);
    let good = told.iter().filter(|told| told.ok).count();
    let result = format!("{good} of {} ended as they must", told.len());
    if good == told.len() {
        progress.done(&result);
    } else {
        progress.failed();
    }

    let progress = screen.progress("audit");
    let audited = audit(world).await;
    match &audited {
        Ok(report) if report.clean => progress.done(""),
        _ => progress.failed(),
    }
    Report::new(told, audited, addresses(world.stack()))
}

async fn audit(world: &World) -> anyhow::Result<audit::Report> {
    world.all_published().await?;
    // Everything has ended, so nothing may be excused as being in flight.
    audit::audit(&world.stack().audit_sources(), Duration::ZERO).await
}

/// Plays one scenario and tells what came of it.
async fn play(number: usize, scenario: &Scenario, world: &World) -> Told {
    let begun = Instant::now();
    let scene = Scene::new(world, scenario.name);
    let played = tokio::time::timeout(PLAYED_WITHIN, (scenario.play)(&scene)).await;
    let played = played.unwrap_or_else(|_| {
        let seconds = PLAYED_WITHIN.as_secs();
        Err(anyhow::anyhow!("not played to its end within {seconds} s"))
    });
    let mut told = Told::new(number, scenario, begun.elapsed());
    let seen = scene.into_seen();
    told.order.clone_from(&seen.order);
    match judged(world, played).await {
        Ok(checks) => told.checks = checks,
        Err(error) => told.error = Some(format!("{error:#}")),
    }
    match timeline(world, seen).await {
        Ok(timeline) => told.timeline = timeline,
        Err(error) if told.error.is_none() => told.error = Some(format!("{error:#}")),
        // The first error is the one to look at.
        Err(_) => {}
    }
    told.judged()
}

async fn judged(
    world: &World,
    played: anyhow::Result<Played>,
) -> anyhow::Result<Vec<super::Check>> {
    let Played {
        order,
        ending,
        mut checks,
    } = played?;
    let facts = Facts::gather(world, order).await?;
    checks.splice(0..0, ending.judge(&facts));
    Ok(checks)
}

async fn timeline(world: &World, seen: Seen) -> anyhow::Result<Timeline> {
    let Some(order) = seen.order else {
        return Ok(Timeline::default());
    };
    let order_id = order.order_id.parse().context("the order's id")?;
    let history = history::of_order(world.stack().databases(), order_id).await?;
    let mut moments = history.moments().to_vec();
    moments.extend(seen.moments);
    Ok(Timeline::new(moments))
}

/// Prints the report, and stays up if the caller wants to look around.
async fn show(
    report: Report,
    world: &World,
    begun: Instant,
    keep: bool,
    screen: &Screen,
) -> Report {
    screen.one(&report, Report::draw);
    let took = format!("{:.1} s in all", begun.elapsed().as_secs_f64());
    screen.say(&screen.talk_ink().dim(&took));
    if keep {
        let order = report.scenarios.iter().find_map(|told| told.order.as_ref());
        let doors = Doors::of(world.stack(), order.map(|order| order.order_id.as_str()));
        screen.say(&doors.draw(screen.talk_ink()));
        screen.say("\nStays up until Ctrl-C.");
        signals::ended_by_person().await;
    }
    report
}

/// Ends everything in order. A second Ctrl-C ends it at once.
async fn end(world: World, screen: &Screen) -> anyhow::Result<()> {
    let progress = screen.progress("shut down");
    let ended = tokio::select! {
        ended = async { world.into_stack().await.remove().await } => ended,
        () = signals::ended_by_person() => Err(anyhow::anyhow!("interrupted while it was ending")),
    };
    match &ended {
        Ok(()) => progress.done(""),
        Err(_) => progress.failed(),
    }
    ended
}

fn addresses(stack: &Stack) -> Addresses {
    let parts = [
        Part::Gateway,
        Part::Inventory,
        Part::Payment,
        Part::Order(0),
        Part::Order(1),
    ];
    Addresses {
        listen: parts
            .into_iter()
            .map(|part| (part.to_string(), stack.address(part).to_string()))
            .collect(),
        brokers: stack.brokers().to_owned(),
        topic_prefix: stack.topic_prefix().to_owned(),
        logs: stack.directory().display().to_string(),
    }
}

fn faults(report: &Report) -> Failure {
    let mut failure = Failure::new(Exit::Failed, "not everything was as it must be");
    failure.details = report.faults();
    failure
}

fn could_not_start(error: anyhow::Error, directory: &Path) -> Failure {
    let failure = Failure::from(error.context("the system could not be started"));
    // Gone if it is empty: then nothing was started that could have written.
    if std::fs::remove_dir(directory).is_err() && directory.exists() {
        failure.advise(format!("read the logs in {}", directory.display()))
    } else {
        failure.advise("make setup looks for what is missing")
    }
}

fn interrupted() -> Failure {
    Failure::new(Exit::Failed, "interrupted before the demo was over")
}
