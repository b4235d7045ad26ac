//! Ports that somebody else has.

use std::net::TcpListener;

use super::{
    Check, Setup, Way, listeners,
    running::{Part, System},
};

/// A check for each address that Tercet wants and somebody else has; one for all others.
pub(super) fn checks(setup: &Setup, system: &System) -> Vec<Check> {
    let way = if setup.ways.contains(&Way::Compose) {
        Way::Compose
    } else {
        Way::Running
    };
    let mut wanted = System::addresses(setup);
    wanted.retain(|(part, _, _)| !system.answers(*part));
    let mut checks: Vec<Check> = wanted
        .iter()
        .filter_map(|(part, address, variable)| taken(way, *part, address, variable))
        .collect();
    if checks.is_empty() {
        checks.push(Check::ok(way, "ports", "free, or ours"));
    }
    checks
}

fn taken(way: Way, part: Part, address: &str, variable: &str) -> Option<Check> {
    let (host, port) = address.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    let is_local = matches!(
        host,
        "127.0.0.1" | "localhost" | "0.0.0.0" | "[::1]" | "[::]"
    );
    if !is_local || TcpListener::bind(("127.0.0.1", port)).is_ok() {
        return None;
    }
    let who = match listeners::on(port) {
        Some(listener) => format!("{}, pid {}", listener.name, listener.pid),
        None => "somebody whom this user may not see".to_owned(),
    };
    Some(Check::problem(
        way,
        format!("port {port}"),
        format!("taken by {who}, and {part} wants it"),
        format!("end that one, or give {part} another port ({variable})"),
    ))
}
