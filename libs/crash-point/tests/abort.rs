//! The process really dies, at the right point and the right time: the test runs itself as a child.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::{Command, ExitStatus};

use tercet_crash_point::{VARIABLE, crash_point};

const SIGABRT: i32 = 6;

#[test]
#[ignore = "the child of the other tests"]
fn child() {
    crash_point!("first");
    crash_point!("second");
    crash_point!("second");
}

fn run_child(crash_at: &str) -> (ExitStatus, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env(VARIABLE, crash_at)
        .output()
        .unwrap();
    (
        output.status,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[cfg(unix)]
fn died_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[test]
fn the_chosen_point_aborts_and_says_so() {
    let (status, stderr) = run_child("first");
    assert_eq!(died_of(status), Some(SIGABRT));
    assert!(stderr.contains("crash point first reached"), "{stderr}");
}

#[test]
fn the_nth_time_is_counted() {
    assert_eq!(died_of(run_child("second:2").0), Some(SIGABRT));
    assert!(run_child("second:3").0.success());
}

#[test]
fn other_points_are_passed() {
    assert!(run_child("elsewhere").0.success());
}
