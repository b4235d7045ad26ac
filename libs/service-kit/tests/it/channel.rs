//! Clients notice peers that are gone, and do not freeze a connection by asking too much.

use std::time::{Duration, Instant};

use tercet_service_kit::client::{self, is_connect_error};
use tercet_service_kit::server::Limits;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tonic::Code;

use crate::echo::{Server, call, message};

const GRACE: Duration = Duration::from_secs(1);

#[tokio::test]
async fn only_a_call_that_was_never_sent_is_a_connect_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let channel = client::channel(&nobody).unwrap();
    let status = call(&channel, "Say", message("x")).await.unwrap_err();
    assert!(is_connect_error(&status), "{status:?}");

    let limits = Limits {
        deadline_max: Duration::from_millis(50),
        ..Limits::default()
    };
    let server = Server::start(limits, GRACE).await;
    let status = call(&server.channel(), "Wait", message("9000")).await;
    assert!(!is_connect_error(&status.unwrap_err()));
}

#[tokio::test]
async fn a_deadline_is_told_to_the_peer() {
    let request = client::request(String::new(), Duration::from_secs(7));
    let told = request.metadata().get("grpc-timeout").unwrap();
    assert_eq!(told, "7000000u");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_calls_at_once_go_through_one_channel() {
    let server = Server::start(Limits::default(), GRACE).await;
    let channel = server.channel();
    let text = "x".repeat(32 * 1024);
    let mut calls = JoinSet::new();
    for _ in 0..2000 {
        let (channel, request) = (channel.clone(), message(&text));
        calls.spawn(async move { call(&channel, "Say", request).await.map(|it| it.len()) });
    }
    let all = tokio::time::timeout(Duration::from_mins(1), calls.join_all());
    for answer in all.await.expect("the channel froze") {
        assert_eq!(answer.unwrap(), text.len());
    }
}

#[tokio::test]
async fn a_peer_that_fell_silent_is_noticed_and_the_channel_connects_anew() {
    let server = Server::start(Limits::default(), GRACE).await;
    let (proxy, silence) = Proxy::start(server.addr).await;
    let channel = client::channel(&format!("http://{proxy}")).unwrap();
    call(&channel, "Say", message("x")).await.unwrap();

    silence.send_replace(true);
    let started = Instant::now();
    let status = call(&channel, "Say", message("lost")).await.unwrap_err();
    // Pings every 10 s, 5 s to answer.
    let limit = Duration::from_secs(17);
    assert!(
        started.elapsed() < limit,
        "{:?}: {status:?}",
        started.elapsed()
    );
    assert!(
        matches!(
            status.code(),
            Code::Unavailable | Code::Unknown | Code::Internal
        ),
        "{status:?}"
    );
    assert!(
        !is_connect_error(&status),
        "it may have been sent: {status:?}"
    );

    silence.send_replace(false);
    call(&channel, "Say", message("again")).await.unwrap();
}

struct Proxy;

impl Proxy {
    /// Passes bytes on until told to be silent; connections made before that stay silent for good,
    /// as those across a dead router do.
    #[expect(clippy::disallowed_methods, reason = "ends with the test")]
    async fn start(to: std::net::SocketAddr) -> (std::net::SocketAddr, watch::Sender<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let silence = watch::Sender::new(false);
        let told = silence.clone();
        tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let mut silent = told.subscribe();
                connections.spawn(async move {
                    let mut far = TcpStream::connect(to).await.unwrap();
                    let passing = tokio::io::copy_bidirectional(&mut near, &mut far);
                    let told = async { drop(silent.wait_for(|silent| *silent).await) };
                    let fell_silent = tokio::select! {
                        _ = passing => false,
                        () = told => true,
                    };
                    if fell_silent {
                        std::future::pending::<()>().await; // both ends stay open
                    }
                });
            }
        });
        (addr, silence)
    }
}
