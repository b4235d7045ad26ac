//! Puts the service together: the only place that knows all its parts.

use std::net::SocketAddr;

use secrecy::ExposeSecret as _;
use sqlx::migrate::Migrator;
use tercet_contracts::{
    FILE_DESCRIPTOR_SET, inventory::v1::inventory_service_server::InventoryServiceServer,
};
use tercet_outbox::{Health, KafkaPublisher, Relay, RelayOptions};
use tercet_service_kit::{
    admin_http::{self, Readiness},
    database::{self, MigrateMode, PoolSettings},
    server::{Frame, MESSAGE_BYTES_MAX, bind},
    shutdown::{Ended, Shutdown, Tasks},
};

use crate::{
    app::{App, sweep},
    grpc::{ERRORS, Server},
    settings::Settings,
};

/// The schema of the service's own database.
pub static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/inventory");

const SOURCE: &str = "//tercet/inventory";
const RELAY: &str = "relay";
/// Less than half of the relay's lease, so that a record is reported while the lease holds.
const DELIVERY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(2);

/// Why the service did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Listen(#[from] std::io::Error),
    #[error(transparent)]
    Database(#[from] database::Error),
    #[error("the relay cannot be set up")]
    Relay(#[from] tercet_outbox::Error),
    #[error("the demo stock cannot be written")]
    Seed(#[from] crate::app::Error),
}

/// A service that listens and has what it needs; [`run`](Self::run) lets it work.
#[derive(Debug)]
pub struct Application {
    /// Where the gRPC server listens.
    pub grpc_addr: SocketAddr,
    /// Where `/metrics`, `/healthz` and `/readyz` are.
    pub admin_addr: SocketAddr,
    /// The use cases, for tests that ask them directly.
    pub app: App,
    tasks: Tasks,
}

/// Migrates, connects, binds and starts everything. `None` if it was asked to migrate only.
pub async fn build(
    settings: Settings,
    shutdown: Shutdown,
) -> Result<Option<Application>, StartError> {
    let (grpc, grpc_addr) = bind(settings.grpc_addr).await?;
    let (admin, admin_addr) = bind(settings.admin_addr).await?;

    let readiness = Readiness::new([RELAY]);
    let mut tasks = Tasks::new(shutdown.clone());
    // First of all, so that a probe is answered while the database is waited for.
    tasks.spawn(
        "admin-http",
        admin_http::serve(admin, readiness.clone(), shutdown.clone()),
    );

    database::migrate(
        settings.migrate_url.expose_secret(),
        &MIGRATIONS,
        settings.migrate,
    )
    .await?;
    if settings.migrate == MigrateMode::Only {
        return Ok(None);
    }
    let pool = PoolSettings {
        application_name: settings.instance_id.clone(),
        connections_max: settings.database_connections,
    };
    let pool = database::connect(settings.database_url.expose_secret(), &pool).await?;

    let publisher = KafkaPublisher::new(
        &settings.kafka_brokers,
        &settings.instance_id,
        DELIVERY_TIMEOUT,
    )?;
    let options = RelayOptions::new(&settings.instance_id, SOURCE);
    let (relay, wake) = Relay::new(&pool, publisher, options)?;
    let app = App::new(pool, wake, settings.topic(), settings.hold_max());
    if settings.seed_demo {
        app.seed_demo().await?;
    }

    let mut health = relay.health();
    tasks.spawn(RELAY, relay.run(shutdown.workers()));
    let until = shutdown.workers();
    tasks.spawn("readiness", async move {
        loop {
            let state = match &*health.borrow_and_update() {
                Health::Ready => Ok(()),
                Health::NotReady(why) => Err(why.clone()),
            };
            readiness.set(RELAY, state);
            tokio::select! {
                () = until.cancelled() => return,
                changed = health.changed() => if changed.is_err() { return until.cancelled().await },
            }
        }
    });
    tasks.spawn(
        "sweeper",
        sweep(app.clone(), settings.sweep_interval(), shutdown.intake()),
    );
    let service = InventoryServiceServer::new(Server::new(app.clone()))
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let frame = Frame::new(ERRORS)
        .describe(FILE_DESCRIPTOR_SET)
        .service(service);
    tasks.intake("grpc", frame.serve(grpc, shutdown));
    Ok(Some(Application {
        grpc_addr,
        admin_addr,
        app,
        tasks,
    }))
}

impl Application {
    /// Serves until the shutdown has run its course.
    pub async fn run(self) -> Result<(), Ended> {
        self.tasks.run().await
    }
}
