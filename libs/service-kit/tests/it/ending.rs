//! SIGTERM ends a process within its bound, whatever its peers do. The process is this test binary.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tercet_service_kit::client;
use tercet_service_kit::server::{Frame, bind};
use tercet_service_kit::shutdown::{Shutdown, Tasks};

use crate::echo::{DOMAIN, Echo, call, message};

const GRACE: Duration = Duration::from_secs(2);
/// For the machine to be busy.
const MARGIN: Duration = Duration::from_secs(2);
const SILENT_PEERS: usize = 50;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that the other tests end"]
#[expect(clippy::print_stdout, reason = "tells where it listens")]
async fn process() {
    let (listener, addr) = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let shutdown = Shutdown::on_signals(GRACE).unwrap();
    let mut tasks = Tasks::new(shutdown.clone());
    let frame = Frame::new(DOMAIN).service(Echo);
    tasks.intake("grpc", frame.serve(listener, shutdown.clone()));
    let workers = shutdown.workers();
    tasks.spawn("worker", async move { workers.cancelled().await });
    println!("\nlistens {addr}");
    if let Err(ended) = tasks.run().await {
        panic!("{ended}");
    }
}

struct Process {
    child: Child,
    addr: SocketAddr,
}

impl Process {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "ending::process", "--ignored", "--nocapture"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let addr = lines.find_map(|line| line.unwrap().strip_prefix("listens ")?.parse().ok());
        std::thread::spawn(move || lines.for_each(drop)); // it must not wait for a reader
        Self {
            child,
            addr: addr.unwrap(),
        }
    }

    fn send(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
    }

    async fn ended(mut self) -> ExitStatus {
        let waiting = tokio::task::spawn_blocking(move || self.child.wait().unwrap());
        waiting.await.unwrap()
    }
}

/// Half of them say nothing at all, half of them no more than hello.
fn silent_peers(addr: SocketAddr) -> Vec<TcpStream> {
    let connect = |number| {
        let mut peer = TcpStream::connect(addr).unwrap();
        if number % 2 == 0 {
            peer.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        }
        peer
    };
    (0..SILENT_PEERS).map(connect).collect()
}

#[tokio::test]
async fn silent_peers_do_not_hold_up_the_end() {
    let process = Process::start();
    let _peers = silent_peers(process.addr);
    let started = Instant::now();
    process.send(Signal::SIGTERM);
    let status = process.ended().await;
    assert!(status.success(), "{status}");
    assert!(
        started.elapsed() < GRACE + MARGIN,
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_call_at_work_is_answered_before_the_end() {
    let process = Process::start();
    let _peers = silent_peers(process.addr);
    let channel = client::channel(&format!("http://{}", process.addr)).unwrap();
    call(&channel, "Say", message("connected")).await.unwrap();
    let (answer, ()) = tokio::join!(call(&channel, "Wait", message("800")), async {
        // On its way already: the same connection has answered something sent after it.
        call(&channel, "Say", message("x")).await.unwrap();
        process.send(Signal::SIGTERM);
    });
    assert_eq!(answer.unwrap(), "800");
    assert!(process.ended().await.success());
}

#[tokio::test]
async fn work_that_never_ends_is_ended_by_the_bound_and_shows_in_the_exit_code() {
    let process = Process::start();
    let channel = client::channel(&format!("http://{}", process.addr)).unwrap();
    call(&channel, "Say", message("connected")).await.unwrap();
    let started = Instant::now();
    let (answer, status) = tokio::join!(call(&channel, "Wait", message("9000")), async {
        call(&channel, "Say", message("x")).await.unwrap();
        process.send(Signal::SIGTERM);
        process.ended().await
    });
    answer.unwrap_err();
    assert!(!status.success(), "{status}");
    assert!(
        started.elapsed() < GRACE + MARGIN,
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let process = Process::start();
    let channel = client::channel(&format!("http://{}", process.addr)).unwrap();
    call(&channel, "Say", message("connected")).await.unwrap();
    let (answer, status) = tokio::join!(call(&channel, "Wait", message("9000")), async {
        call(&channel, "Say", message("x")).await.unwrap();
        process.send(Signal::SIGINT);
        process.send(Signal::SIGTERM);
        process.ended().await
    });
    answer.unwrap_err();
    assert_eq!(status.code(), Some(130));
}
