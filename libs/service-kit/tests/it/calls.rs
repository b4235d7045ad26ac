//! What a call meets in the frame: a deadline, a place, and errors that say nothing internal.

use std::time::{Duration, Instant};

use tercet_grpc_status::{Code, decode};
use tercet_service_kit::server::Limits;
use tercet_testbed::eventually;
use tonic::Status;
use tonic::transport::Channel;
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::echo::{self, Server, call, message};

const GRACE: Duration = Duration::from_secs(5);
const SOON: Duration = Duration::from_secs(5);

fn reason(status: &Status) -> (Code, String) {
    (status.code(), decode(status).reason)
}

#[tokio::test]
async fn a_call_without_a_usable_deadline_gets_the_servers() {
    let limits = Limits {
        deadline_max: Duration::from_millis(100),
        ..Limits::default()
    };
    let server = Server::start(limits, GRACE).await;
    let channel = server.channel();
    // The last two would be none at all to tonic; the first is longer than the server allows.
    for odd in ["1H", "soon", "123456789S"] {
        let mut request = message("60000");
        request
            .metadata_mut()
            .insert("grpc-timeout", odd.parse().unwrap());
        let started = Instant::now();
        let status = call(&channel, "Wait", request).await.unwrap_err();
        let expected = (Code::DeadlineExceeded, "DEADLINE_EXCEEDED".to_owned());
        assert_eq!(reason(&status), expected, "{odd}: {status:?}");
        assert!(started.elapsed() < Duration::from_secs(2), "{odd}");
    }
}

#[tokio::test]
async fn a_panic_ends_its_call_only_and_tells_nothing() {
    let server = Server::start(Limits::default(), GRACE).await;
    let channel = server.channel();
    let other = call(&channel, "Wait", message("300"));
    let panicking = call(&channel, "Panic", message(""));
    let (other, panicked) = tokio::join!(other, panicking);
    assert_eq!(other.unwrap(), "300");
    let status = panicked.unwrap_err();
    assert_eq!(reason(&status), (Code::Internal, "INTERNAL".to_owned()));
    assert!(!format!("{status:?}").contains("secret"), "{status:?}");
}

#[tokio::test]
async fn a_full_server_refuses_at_once_says_when_to_come_back_and_still_answers_probes() {
    let limits = Limits {
        calls_max: 2,
        ..Limits::default()
    };
    let server = Server::start(limits, GRACE).await;
    let channel = server.channel();
    let slow = || call(&channel, "Wait", message("1000"));
    let crowd = async {
        eventually("a refusal", SOON, async || {
            call(&channel, "Say", message("x")).await.err()
        })
        .await
    };
    let (one, two, refused) = tokio::join!(slow(), slow(), async {
        let refused = crowd.await;
        assert_eq!(
            health(&channel, echo::NAME).await,
            ServingStatus::Serving as i32
        );
        refused
    });
    one.unwrap();
    two.unwrap();
    let expected = (Code::ResourceExhausted, "OVERLOADED".to_owned());
    assert_eq!(reason(&refused), expected);
    assert!(decode(&refused).retry_after.is_some(), "{refused:?}");
    // The places are free again.
    call(&channel, "Say", message("x")).await.unwrap();
}

#[tokio::test]
async fn a_stream_takes_no_place_from_work_but_the_end_waits_for_it() {
    let limits = Limits {
        calls_max: 1,
        ..Limits::default()
    };
    let server = Server::start(limits, Duration::from_secs(1)).await;
    let channel = server.channel();
    let streams = (echo::watch(&channel).await, echo::watch(&channel).await);
    call(&channel, "Say", message("x")).await.unwrap();

    server.shutdown.begin();
    let ended = server.ended.await.unwrap().unwrap_err().to_string();
    assert_eq!(ended, "not finished within 1s: grpc");
    drop(streams);
}

#[tokio::test]
async fn health_says_no_first_and_the_calls_at_work_are_still_answered() {
    let server = Server::start(Limits::default(), GRACE).await;
    let channel = server.channel();
    for service in ["", echo::NAME] {
        assert_eq!(
            health(&channel, service).await,
            ServingStatus::Serving as i32
        );
    }
    let working = call(&channel, "Wait", message("600"));
    let ending = async {
        server.shutdown.begin();
        eventually("NOT_SERVING", SOON, async || {
            let status = health(&channel, echo::NAME).await;
            (status == ServingStatus::NotServing as i32).then_some(())
        })
        .await;
        // Not refused yet: load balancers are still learning it.
        call(&channel, "Say", message("late")).await
    };
    let (answer, late) = tokio::join!(working, ending);
    assert_eq!(answer.unwrap(), "600");
    assert_eq!(late.unwrap(), "late");
    server.ended.await.unwrap().unwrap();
}

async fn health(channel: &Channel, service: &str) -> i32 {
    let request = HealthCheckRequest {
        service: service.to_owned(),
    };
    let answer = HealthClient::new(channel.clone()).check(request).await;
    answer.unwrap().into_inner().status
}
