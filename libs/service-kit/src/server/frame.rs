use std::net::SocketAddr;

use tercet_grpc_status::ErrorDomain;
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::server::NamedService;
use tonic::service::RoutesBuilder;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use tonic_reflection::server::Builder;
use tower::Service;

use super::call::CallLayer;
use super::in_flight::InFlight;
use super::limits::Limits;
use crate::shutdown::Shutdown;

const HEALTH: &str = "grpc.health.v1.Health";
const REFLECTION: &str = "grpc.reflection.v1.ServerReflection";

/// Why a server ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A descriptor set cannot be read.
    #[error("a descriptor set for reflection is malformed")]
    Reflection(#[from] tonic_reflection::server::Error),
    /// The transport failed.
    #[error("the gRPC server failed")]
    Transport(#[from] tonic::transport::Error),
}

impl ServeError {
    /// A restart may help.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Transport(_))
    }
}

/// Listens on `address` and tells the real one: port 0 asks for any.
///
/// # Errors
/// The address cannot be listened on; the error names it.
pub async fn bind(address: SocketAddr) -> std::io::Result<(TcpListener, SocketAddr)> {
    let named = |error: std::io::Error| {
        std::io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
    };
    let listener = TcpListener::bind(address).await.map_err(named)?;
    let bound = listener.local_addr().map_err(named)?;
    Ok((listener, bound))
}

/// A gRPC server in the making.
#[must_use]
pub struct Frame {
    domain: ErrorDomain,
    limits: Limits,
    routes: RoutesBuilder,
    services: Vec<&'static str>,
    descriptors: Vec<&'static [u8]>,
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame")
            .field("services", &self.services)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Frame {
    /// A server without methods; `domain` stands in the errors the frame itself answers.
    pub fn new(domain: ErrorDomain) -> Self {
        Self {
            domain,
            limits: Limits::default(),
            routes: RoutesBuilder::default(),
            services: Vec::new(),
            descriptors: Vec::new(),
        }
    }

    /// Other limits than the default ones.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Describes the services by an encoded `FileDescriptorSet`, for reflection.
    pub fn describe(mut self, descriptors: &'static [u8]) -> Self {
        self.descriptors.push(descriptors);
        self
    }

    /// Adds a generated server. Give it [`MESSAGE_BYTES_MAX`](super::MESSAGE_BYTES_MAX) first.
    pub fn service<S>(mut self, service: S) -> Self
    where
        S: Service<http::Request<Body>, Error = std::convert::Infallible>
            + NamedService
            + Clone
            + Send
            + Sync
            + 'static,
        S::Response: axum::response::IntoResponse,
        S::Future: Send + 'static,
    {
        self.routes.add_service(service);
        self.services.push(S::NAME);
        self
    }

    /// Serves until [`Shutdown::intake`], then finishes the calls at work and returns. Says
    /// `NOT_SERVING` as soon as the shutdown has begun.
    ///
    /// # Errors
    /// A descriptor set is malformed, or the transport fails.
    pub async fn serve(
        mut self,
        listener: TcpListener,
        shutdown: Shutdown,
    ) -> Result<(), ServeError> {
        let health = self.add_health().await;
        self.add_reflection()?;
        let in_flight = InFlight::new(self.limits.calls_max);
        let layer = CallLayer {
            domain: self.domain,
            limits: self.limits,
            in_flight: in_flight.clone(),
        };

        let intake = shutdown.intake();
        let serving = server(self.limits)
            .layer(layer)
            .serve_with_incoming_shutdown(
                self.routes.routes().prepare(),
                TcpIncoming::from(listener).with_nodelay(Some(true)),
                intake.clone().cancelled_owned(),
            );
        let not_serving = async {
            shutdown.begun().cancelled().await;
            for service in self.services.iter().copied().chain([""]) {
                health
                    .set_service_status(service, ServingStatus::NotServing)
                    .await;
            }
            std::future::pending::<()>().await;
        };
        // hyper waits for connections, also for those that never say a word; we wait for calls.
        let calls_ended = async {
            intake.cancelled().await;
            in_flight.none_left().await;
        };
        tokio::select! {
            served = serving => Ok(served?),
            () = not_serving => Ok(()),
            () = calls_ended => Ok(()),
        }
    }

    async fn add_health(&mut self) -> HealthReporter {
        let reporter = HealthReporter::new();
        for service in &self.services {
            reporter
                .set_service_status(service, ServingStatus::Serving)
                .await;
        }
        let service = HealthService::from_health_reporter(reporter.clone());
        self.routes.add_service(HealthServer::new(service));
        reporter
    }

    /// grpcurl asks v1, Evans and older tools v1alpha; and error details are readable only to
    /// clients that find the `google.rpc` types here.
    fn add_reflection(&mut self) -> Result<(), ServeError> {
        let builder = || {
            let builder = Builder::configure()
                .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
            let builder = self.descriptors.iter().fold(builder, |builder, set| {
                builder.register_encoded_file_descriptor_set(set)
            });
            // The descriptors may describe other servers' services too: `list` names our own.
            let own = [HEALTH, REFLECTION].into_iter();
            own.chain(self.services.iter().copied())
                .fold(builder, Builder::with_service_name)
        };
        let (v1, v1alpha) = (builder().build_v1()?, builder().build_v1alpha()?);
        self.routes.add_service(v1).add_service(v1alpha);
        Ok(())
    }
}

fn server(limits: Limits) -> Server {
    Server::builder()
        .timeout(limits.deadline_max)
        .max_concurrent_streams(limits.streams_per_connection_max)
        .http2_keepalive_interval(Some(limits.keepalive_interval))
        .http2_keepalive_timeout(Some(limits.keepalive_timeout))
        .max_connection_age(limits.connection_age_max)
        .max_connection_age_grace(limits.connection_age_grace)
        .http2_max_header_list_size(limits.header_bytes_max)
}
