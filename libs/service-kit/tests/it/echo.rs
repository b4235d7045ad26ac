//! A service that does as it is told, in a frame.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::uri::PathAndQuery;
use tercet_grpc_status::ErrorDomain;
use tercet_service_kit::client;
use tercet_service_kit::server::{Frame, Limits, bind};
use tercet_service_kit::shutdown::{Ended, Shutdown, Tasks};
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::{NamedService, UnaryService};
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

pub const DOMAIN: ErrorDomain = ErrorDomain::new("test.example");
pub const NAME: &str = "tercet.test.Echo";

#[derive(Clone)]
pub struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = NAME;
}

type Answer<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = request.uri().path().to_owned();
        Box::pin(async move {
            if method.ends_with("/Watch") {
                return Ok(endless());
            }
            let mut grpc = tonic::server::Grpc::new(ProstCodec::<String, String>::default());
            Ok(grpc.unary(Method(method), request).await)
        })
    }
}

/// A head, and a body that never ends.
fn endless() -> http::Response<Body> {
    let silence = tokio_stream::pending::<Result<axum::body::Bytes, Infallible>>();
    let body = Body::new(axum::body::Body::from_stream(silence));
    http::Response::builder()
        .header("content-type", "application/grpc")
        .body(body)
        .unwrap()
}

struct Method(String);

impl UnaryService<String> for Method {
    type Response = String;
    type Future = Answer<Result<Response<String>, Status>>;

    fn call(&mut self, request: Request<String>) -> Self::Future {
        let method = self.0.rsplit('/').next().unwrap().to_owned();
        Box::pin(async move {
            match method.as_str() {
                "Say" => Ok(Response::new(request.into_inner())),
                // For as many milliseconds as the message says.
                "Wait" => {
                    let pause = request.get_ref().parse().unwrap();
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                    Ok(Response::new(request.into_inner()))
                }
                "Panic" => panic!("a secret of the server"),
                _ => Err(Status::unimplemented(method)),
            }
        })
    }
}

/// A frame around [`Echo`], in this process.
pub struct Server {
    pub addr: SocketAddr,
    pub shutdown: Shutdown,
    pub ended: JoinHandle<Result<(), Ended>>,
}

impl Server {
    #[expect(clippy::disallowed_methods, reason = "ends with the test")]
    pub async fn start(limits: Limits, grace: Duration) -> Self {
        let (listener, addr) = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let shutdown = Shutdown::new(grace);
        let mut tasks = Tasks::new(shutdown.clone());
        let frame = Frame::new(DOMAIN).limits(limits).service(Echo);
        tasks.intake("grpc", frame.serve(listener, shutdown.clone()));
        Self {
            addr,
            shutdown,
            ended: tokio::spawn(tasks.run()),
        }
    }

    pub fn channel(&self) -> Channel {
        client::channel(&format!("http://{}", self.addr)).unwrap()
    }
}

/// Begins the stream that never ends; it goes with the value.
pub async fn watch(channel: &Channel) -> tonic::Streaming<String> {
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let path = PathAndQuery::try_from(format!("/{NAME}/Watch")).unwrap();
    let codec = ProstCodec::<String, String>::default();
    let answer = grpc.server_streaming(message(""), path, codec).await;
    answer.unwrap().into_inner()
}

/// Calls `method` of [`Echo`] with whatever metadata `request` has.
pub async fn call(
    channel: &Channel,
    method: &'static str,
    request: Request<String>,
) -> Result<String, Status> {
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    let ready = grpc.ready().await;
    ready.map_err(|error| Status::from_error(Box::new(error)))?;
    let path = PathAndQuery::try_from(format!("/{NAME}/{method}")).unwrap();
    let codec = ProstCodec::<String, String>::default();
    Ok(grpc.unary(request, path, codec).await?.into_inner())
}

pub fn message(text: &str) -> Request<String> {
    Request::new(text.to_owned())
}
