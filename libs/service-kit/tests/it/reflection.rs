//! Tools find the services and can read error details, whichever version they speak.

use std::time::Duration;

use tercet_service_kit::server::Limits;
use tonic::transport::Channel;

use crate::echo::{NAME, Server};

/// Both versions are the same messages in two packages.
macro_rules! ask {
    ($version:ident, $channel:expr, $question:ident, $text:expr) => {{
        use tonic_reflection::pb::$version as pb;
        let request = pb::ServerReflectionRequest {
            host: String::new(),
            message_request: Some(pb::server_reflection_request::MessageRequest::$question(
                $text.to_owned(),
            )),
        };
        let mut client =
            pb::server_reflection_client::ServerReflectionClient::new(Channel::clone($channel));
        let answers = client
            .server_reflection_info(tokio_stream::once(request))
            .await;
        let answer = answers.unwrap().into_inner().message().await.unwrap();
        format!("{:?}", answer.unwrap().message_response.unwrap())
    }};
}

#[tokio::test]
async fn both_versions_name_the_services_and_know_the_error_details() {
    let server = Server::start(Limits::default(), Duration::from_secs(1)).await;
    let channel = server.channel();
    let lists = [
        ask!(v1, &channel, ListServices, ""),
        ask!(v1alpha, &channel, ListServices, ""),
    ];
    for services in lists {
        assert!(services.contains(NAME), "{services}");
        assert!(services.contains("grpc.health.v1.Health"), "{services}");
    }
    let details = [
        ask!(v1, &channel, FileContainingSymbol, "google.rpc.ErrorInfo"),
        ask!(
            v1alpha,
            &channel,
            FileContainingSymbol,
            "google.rpc.ErrorInfo"
        ),
    ];
    for file in details {
        assert!(file.starts_with("FileDescriptorResponse"), "{file}");
    }
}
