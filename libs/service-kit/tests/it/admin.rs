//! What a supervisor and a scraper ask.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use tercet_service_kit::admin_http::{self, Readiness, healthcheck};
use tercet_service_kit::server::bind;
use tercet_service_kit::shutdown::Shutdown;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "ends with the test")]
async fn readiness_follows_its_checks_and_the_shutdown_liveness_does_not() {
    let (listener, addr) = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let shutdown = Shutdown::new(Duration::from_secs(1));
    let readiness = Readiness::new(["database", "broker"]);
    let serving = tokio::spawn(admin_http::serve(
        listener,
        readiness.clone(),
        shutdown.clone(),
    ));

    let starting = get(addr, "/readyz").await;
    assert!(starting.starts_with("HTTP/1.1 503"), "{starting}");
    assert!(starting.contains(r#""name":"broker","ready":false,"reason":"starting""#));
    assert_eq!(healthcheck(addr).await, ExitCode::FAILURE);

    readiness.set("database", Ok(()));
    readiness.set("broker", Ok(()));
    assert!(get(addr, "/readyz").await.starts_with("HTTP/1.1 200"));
    assert_eq!(healthcheck(addr).await, ExitCode::SUCCESS);
    // Listening everywhere is asked about on the loopback.
    let everywhere = SocketAddr::new("0.0.0.0".parse().unwrap(), addr.port());
    assert_eq!(healthcheck(everywhere).await, ExitCode::SUCCESS);

    readiness.set("broker", Err("the producer is being rebuilt".to_owned()));
    assert!(get(addr, "/readyz").await.contains("being rebuilt"));
    assert!(get(addr, "/healthz").await.starts_with("HTTP/1.1 200"));
    let metrics = get(addr, "/metrics").await;
    assert!(
        metrics.contains("content-type: text/plain; version=0.0.4"),
        "{metrics}"
    );

    readiness.set("broker", Ok(()));
    shutdown.begin();
    tercet_testbed::eventually("not ready", Duration::from_secs(5), async || {
        let answer = get(addr, "/readyz").await;
        answer.contains("shutting down").then_some(())
    })
    .await;
    assert!(get(addr, "/healthz").await.starts_with("HTTP/1.1 200"));

    let _silent = TcpStream::connect(addr).await.unwrap();
    shutdown.workers().cancel();
    let ended = tokio::time::timeout(Duration::from_secs(5), serving);
    ended
        .await
        .expect("a silent peer holds it up")
        .unwrap()
        .unwrap();
    assert_eq!(healthcheck(addr).await, ExitCode::FAILURE);
}

async fn get(addr: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
