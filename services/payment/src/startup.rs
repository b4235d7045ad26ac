//! Puts the service together: the only place that knows all its parts.

use std::{net::SocketAddr, time::Duration};

use secrecy::ExposeSecret as _;
use sqlx::{PgPool, migrate::Migrator};
use tercet_contracts::{
    FILE_DESCRIPTOR_SET, payment::v1::payment_service_server::PaymentServiceServer,
};
use tercet_outbox::{Health, KafkaPublisher, Relay, RelayOptions};
use tercet_service_kit::{
    admin_http::{self, Readiness},
    database::{self, MigrateMode, PoolSettings},
    server::{Frame, MESSAGE_BYTES_MAX, bind},
    shutdown::{Ended, Shutdown, Tasks},
};
use tokio::{net::TcpListener, sync::watch};

use crate::{
    app::{App, Worker, handover},
    gateway::{HttpGateway, InvalidGateway},
    grpc::{ERRORS, Server},
    settings::Settings,
    store::payments::Lease,
};

/// The schema of the service's own database.
pub static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/payment");

const SOURCE: &str = "//tercet/payment";
const RELAY: &str = "relay";
/// Less than half of the relay's lease, so that a record is reported while the lease holds.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(2);
/// After a kill, another worker waits this long for the payments that it had.
const PAYMENT_LEASE: Duration = Duration::from_secs(3);

/// Why the service did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Listen(#[from] std::io::Error),
    #[error(transparent)]
    Database(#[from] database::Error),
    #[error("the relay cannot be set up")]
    Relay(#[from] tercet_outbox::Error),
    #[error("the gateway cannot be used")]
    Gateway(#[from] InvalidGateway),
}

/// A service that listens and has what it needs; [`run`](Self::run) lets it work.
#[derive(Debug)]
pub struct Application {
    /// Where the gRPC server listens.
    pub grpc_addr: SocketAddr,
    /// Where `/metrics`, `/healthz` and `/readyz` are.
    pub admin_addr: SocketAddr,
    tasks: Tasks,
}

/// Migrates, connects, binds and starts everything. `None` if it was asked to migrate only.
pub async fn build(
    settings: Settings,
    shutdown: Shutdown,
) -> Result<Option<Application>, StartError> {
    let gateway = HttpGateway::new(
        &settings.gateway_url,
        settings.gateway_key.clone(),
        settings.gateway_timeout(),
    )?;
    let (grpc, grpc_addr) = bind(settings.grpc_addr).await?;
    let (admin, admin_addr) = bind(settings.admin_addr).await?;
    let readiness = Readiness::new([RELAY]);
    let mut tasks = Tasks::new(shutdown.clone());
    // First of all, so that a probe is answered while the database is waited for.
    tasks.spawn(
        "admin-http",
        admin_http::serve(admin, readiness.clone(), shutdown.clone()),
    );

    let (url, mode) = (settings.migrate_url.expose_secret(), settings.migrate);
    database::migrate(url, &MIGRATIONS, mode).await?;
    if mode == MigrateMode::Only {
        return Ok(None);
    }
    let pool = connect(&settings).await?;
    let app = start_workers(&settings, &pool, gateway, readiness, &shutdown, &mut tasks)?;
    start_intake(app, grpc, &shutdown, &mut tasks);
    Ok(Some(Application {
        grpc_addr,
        admin_addr,
        tasks,
    }))
}

async fn connect(settings: &Settings) -> Result<PgPool, database::Error> {
    let pool = PoolSettings {
        application_name: settings.instance_id.clone(),
        connections_max: settings.database_connections,
    };
    database::connect(settings.database_url.expose_secret(), &pool).await
}

/// The relay, and the worker that asks the processor. The worker ends first, so that what it still
/// learns is published.
fn start_workers(
    settings: &Settings,
    pool: &PgPool,
    gateway: HttpGateway,
    readiness: Readiness,
    shutdown: &Shutdown,
    tasks: &mut Tasks,
) -> Result<App, StartError> {
    let id = &settings.instance_id;
    let publisher = KafkaPublisher::new(&settings.kafka_brokers, id, DELIVERY_TIMEOUT)?;
    let (relay, wake) = Relay::new(pool, publisher, RelayOptions::new(id, SOURCE))?;
    tasks.spawn("readiness", follow(readiness, relay.health(), shutdown));
    tasks.spawn(RELAY, relay.run(shutdown.workers()));

    let lease = Lease {
        owner: id.clone(),
        length: PAYMENT_LEASE,
    };
    let (handover, intake) = handover();
    let app = App::new(pool.clone(), wake, settings.topic(), lease, handover);
    let worker = Worker::new(app.clone(), gateway, settings.resolve_after());
    tasks.intake("payments", worker.run(intake, shutdown.intake()));
    Ok(app)
}

/// What brings work in: the calls.
fn start_intake(app: App, grpc: TcpListener, shutdown: &Shutdown, tasks: &mut Tasks) {
    let service = PaymentServiceServer::new(Server::new(app))
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let frame = Frame::new(ERRORS)
        .describe(FILE_DESCRIPTOR_SET)
        .service(service);
    tasks.intake("grpc", frame.serve(grpc, shutdown.clone()));
}

/// Tells `/readyz` what the relay says of itself.
fn follow(
    readiness: Readiness,
    mut health: watch::Receiver<Health>,
    shutdown: &Shutdown,
) -> impl Future<Output = ()> + Send + 'static {
    let until = shutdown.workers();
    async move {
        loop {
            let state = match &*health.borrow_and_update() {
                Health::Ready => Ok(()),
                Health::NotReady(why) => Err(why.clone()),
            };
            readiness.set(RELAY, state);
            tokio::select! {
                () = until.cancelled() => return,
                changed = health.changed() => if changed.is_err() {
                    return until.cancelled().await;
                },
            }
        }
    }
}

impl Application {
    /// Serves until the shutdown has run its course.
    pub async fn run(self) -> Result<(), Ended> {
        self.tasks.run().await
    }
}
