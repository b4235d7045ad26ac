//! A process can be waited for, killed, asked to end, and started again.

use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use tercet_testbed::process::{Process, ProcessOptions, Ready};

const SOON: Duration = Duration::from_secs(10);

fn shell(script: &str, ready: Ready) -> (tempfile::TempDir, Process) {
    let directory = tempfile::tempdir().unwrap();
    let process = Process::start(ProcessOptions {
        name: "shell".into(),
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        variables: vec![("WORD".into(), "hello".into())],
        log: directory.path().join("shell.log"),
        ready,
    });
    (directory, process.unwrap())
}

/// Ready at once: the test itself listens.
fn listening() -> (TcpListener, Ready) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ready = Ready::Tcp(listener.local_addr().unwrap());
    (listener, ready)
}

fn silent() -> Ready {
    let (listener, ready) = listening();
    drop(listener);
    ready
}

#[tokio::test]
async fn one_that_ends_too_early_shows_its_log() {
    let (_directory, mut process) = shell("echo $WORD world; exit 3", silent());
    let error = process.wait_ready(SOON).await.unwrap_err().to_string();
    assert!(error.contains("exit status: 3"), "{error}");
    assert!(error.contains("hello world"), "{error}");
}

#[tokio::test]
async fn one_that_is_never_ready_is_not_waited_for_any_longer() {
    let (_directory, mut process) = shell("sleep 60", silent());
    let error = process
        .wait_ready(Duration::from_millis(50))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("is not ready after 50ms"),
        "{error}"
    );
}

#[tokio::test]
async fn is_killed_and_started_again_with_the_same_log() {
    let (_listener, ready) = listening();
    let (_directory, mut process) = shell("echo started; exec sleep 60", ready);
    process.wait_ready(SOON).await.unwrap();
    let first = process.pid();
    wait_for_log(&process, "started\n").await;
    process.kill().await.unwrap();
    assert!(!process.is_running());
    process.restart().await.unwrap();
    process.wait_ready(SOON).await.unwrap();
    assert_ne!(process.pid(), first);
    wait_for_log(&process, "started\nstarted\n").await;
}

#[tokio::test]
async fn ends_when_asked_or_is_killed() {
    let (_listener, ready) = listening();
    let (_directory, mut obedient) = shell("exec sleep 60", ready.clone());
    let status = obedient.terminate(SOON).await.unwrap();
    assert_eq!(status.signal(), Some(15));
    let (_directory, mut deaf) = shell("trap '' TERM; echo deaf; while :; do sleep 1; done", ready);
    wait_for_log(&deaf, "deaf\n").await;
    let error = deaf.terminate(Duration::from_millis(50)).await.unwrap_err();
    assert!(error.to_string().contains("did not end"), "{error}");
    assert!(!deaf.is_running());
}

async fn wait_for_log(process: &Process, text: &str) {
    tercet_testbed::eventually(text, SOON, async || {
        let log = std::fs::read_to_string(process.log()).unwrap();
        (log == text).then_some(())
    })
    .await;
}
