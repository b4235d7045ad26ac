//! `testbed exec` is a wrapper that is not noticed: addresses in, exit code out, nothing left behind.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const GIVEN: [(&str, &str); 2] = [
    ("TERCET_TEST_POSTGRES_URL", "postgres://given"),
    ("TERCET_TEST_KAFKA_BROKERS", "given:9092"),
];

fn testbed() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_testbed"));
    command.stdin(Stdio::null());
    command
}

fn exec_with_given(script: &str) -> Output {
    let arguments = ["exec", "--", "sh", "-c", script];
    testbed().args(arguments).envs(GIVEN).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_is_given_is_used_as_it_is() {
    let output = exec_with_given("echo $TERCET_TEST_POSTGRES_URL $TERCET_TEST_KAFKA_BROKERS");
    assert_eq!(text(&output.stdout), "postgres://given given:9092\n");
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("testbed: Kafka is given"));
}

#[test]
fn the_exit_code_is_the_commands() {
    assert_eq!(exec_with_given("exit 42").status.code(), Some(42));
    assert_eq!(exec_with_given("kill -9 $$").status.code(), Some(128 + 9));
}

#[test]
fn what_cannot_be_run_is_said() {
    let missing = testbed()
        .args(["exec", "--", "no-such-program"])
        .envs(GIVEN)
        .output();
    let missing = missing.unwrap();
    assert_eq!(missing.status.code(), Some(1));
    let said = text(&missing.stderr);
    assert!(said.contains("cannot start no-such-program"), "{said}");

    for wrong in [&["exec"][..], &["exec", "true"], &["exec", "--"], &[]] {
        let output = testbed().args(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(64), "{wrong:?}");
        assert!(text(&output.stderr).contains("Usage: testbed exec -- "));
    }
}

#[test]
fn a_missing_server_is_told_with_every_way_out() {
    let output = testbed()
        .args(["exec", "--", "true"])
        .envs(GIVEN)
        .env_remove("TERCET_TEST_POSTGRES_URL")
        .env("TERCET_POSTGRES_BIN", "/nowhere")
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in [
        "TERCET_POSTGRES_BIN is /nowhere",
        "TERCET_TEST_POSTGRES_URL can name",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

/// Until the command has written its first line.
fn start(script: &str, given: &[(&str, &str)]) -> (Child, String, impl BufRead + use<>) {
    let mut child = testbed()
        .args(["exec", "--", "sh", "-c", script])
        .env_remove("TERCET_TEST_POSTGRES_URL")
        .envs(given.iter().copied())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    (child, line.trim().to_owned(), output)
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

#[test]
fn a_signal_reaches_the_command_and_all_it_has_started() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // A shell that waits for another, as make does: it ends only when that one does.
        let script = "trap 'exit 7' INT TERM HUP; \
                      sh -c \"trap 'echo inner; exit' INT TERM HUP; echo up; while :; do sleep 0.1; done\"; \
                      exit 8";
        let (mut child, _up, mut output) = start(script, &GIVEN);
        send(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(7), "{signal}");
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "inner\n", "{signal}");
    }
}

#[test]
fn a_deaf_command_is_killed_by_the_second_signal() {
    let script = "trap '' INT TERM; echo up; while :; do sleep 0.1; done";
    let (mut child, _up, _output) = start(script, &GIVEN);
    send(&child, Signal::SIGTERM);
    // Another one: the same would merge with the first while that is pending. Which of two pending
    // ones is seen first is not said.
    send(&child, Signal::SIGINT);
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(143 | 130)), "{code:?}");
}

#[test]
fn what_was_started_is_ended_also_by_a_signal() {
    let script = "echo $TERCET_TEST_POSTGRES_URL; exec sleep 60";
    let kafka = [GIVEN[1]];
    let (mut child, url, _output) = start(script, &kafka);
    let address = url.split(['@', '/']).nth(3).unwrap().to_owned();
    TcpStream::connect(&address).unwrap();
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    assert!(TcpStream::connect(&address).is_err(), "{url} still runs");
}
