//! Puts the service together: the composition root.

use std::{net::SocketAddr, time::Duration};

use secrecy::ExposeSecret as _;
use sqlx::PgPool;
use tercet_contracts::{
    FILE_DESCRIPTOR_SET, order::v1::order_service_server::OrderServiceServer,
    saga::v1::saga_admin_service_server::SagaAdminServiceServer,
};
use tercet_idempotency::SingleFlight;
use tercet_inbox::{Consumer, ConsumerOptions, check_retention};
use tercet_outbox::{KafkaPublisher, Relay, RelayOptions};
use tercet_saga::{Definition, DefinitionError};
use tercet_saga_postgres::EngineOptions;
use tercet_service_kit::{
    admin_http::{self, Readiness},
    client,
    database::{self, MigrateMode, PoolSettings},
    server::{Frame, MESSAGE_BYTES_MAX, bind},
    shutdown::{Ended, Shutdown, Tasks},
};
use tokio::{net::TcpListener, sync::watch};

use crate::{
    MIGRATOR, Settings,
    app::{self, App, WatchOptions, Watchers},
    grpc::{Orders, SagaAdmin, status},
    messaging::{Outcomes, Topics},
    saga::{Engine, Services},
};

const DATABASE: &str = "database";
const OUTBOX: &str = "outbox";
const INBOX: &str = "inbox";

/// Less than half of the relay's lease.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(2);
/// Dead letters older than this are not sent anew: their inbox rows may be gone.
const REDRIVE_AGE_MAX: Duration = Duration::from_hours(6 * 24);
const PURGE_EVERY: Duration = Duration::from_mins(10);

/// Why the service did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("there is no usable database")]
    Database(#[from] database::Error),
    #[error("an address cannot be used")]
    Listen(#[from] std::io::Error),
    #[error("{setting} is no URL")]
    Url {
        setting: &'static str,
        #[source]
        source: tonic::transport::Error,
    },
    #[error("the outbox's relay cannot be set up")]
    Outbox(#[from] tercet_outbox::Error),
    #[error("the saga's steps or timing break a rule")]
    Saga(#[from] DefinitionError),
    #[error("the demo's products cannot be added")]
    Seed(#[from] app::Error),
}

/// A service that listens, but does not answer yet.
#[derive(Debug)]
pub struct Application {
    /// Where gRPC is; tells the port where the settings said 0.
    pub addr: SocketAddr,
    /// Where the admin HTTP is.
    pub admin_addr: SocketAddr,
    tasks: Tasks,
}

/// Brings the schema up to date, opens the ports, and starts every task. `None`: there was only
/// something to migrate.
pub async fn build(
    settings: &Settings,
    shutdown: Shutdown,
) -> Result<Option<Application>, StartError> {
    database::migrate(
        settings.migrate_url.expose_secret(),
        &MIGRATOR,
        settings.migrate,
    )
    .await?;
    if settings.migrate == MigrateMode::Only {
        return Ok(None);
    }
    if settings.hold_is_short() {
        tracing::warn!(
            hold_ttl_seconds = settings.hold_ttl_seconds,
            "a hold may end before its order is paid"
        );
    }
    let pool = connect(settings).await?;
    if settings.seed_demo {
        let added = app::seed_demo(&pool).await?;
        tracing::info!(added, "the demo's products are there");
    }
    let readiness = Readiness::new([DATABASE, OUTBOX, INBOX]);
    readiness.set(DATABASE, Ok(()));
    let (grpc, addr) = bind(settings.grpc_addr).await?;
    let (admin, admin_addr) = bind(settings.admin_addr).await?;

    let mut tasks = Tasks::new(shutdown.clone());
    let serving = admin_http::serve(admin, readiness.clone(), shutdown.clone());
    tasks.spawn("admin-http", serving);
    let parts = Parts {
        settings,
        pool,
        shutdown,
        readiness,
    };
    let app = parts.start_workers(&mut tasks)?;
    parts.start_intake(&mut tasks, app, grpc);
    tracing::info!(%addr, %admin_addr, "order-service listens");
    Ok(Some(Application {
        addr,
        admin_addr,
        tasks,
    }))
}

impl Application {
    /// Serves until the shutdown has been led to its end.
    pub async fn run(self) -> Result<(), Ended> {
        self.tasks.run().await
    }
}

async fn connect(settings: &Settings) -> Result<PgPool, database::Error> {
    let pool = PoolSettings {
        application_name: settings.instance_id.clone(),
        connections_max: settings.database_connections,
    };
    database::connect(settings.database_url.expose_secret(), &pool).await
}

struct Parts<'a> {
    settings: &'a Settings,
    pool: PgPool,
    shutdown: Shutdown,
    readiness: Readiness,
}

impl Parts<'_> {
    /// What finishes work: the relay, the engine, the watchers' query, the purge of old keys.
    fn start_workers(&self, tasks: &mut Tasks) -> Result<App, StartError> {
        let settings = self.settings;
        let topics = Topics::new(&settings.topic_prefix);
        let (brokers, owner) = (&settings.kafka_brokers, &settings.instance_id);
        let publisher = KafkaPublisher::new(brokers, owner, DELIVERY_TIMEOUT)?;
        let options = RelayOptions::new(owner, "//tercet/order");
        let (relay, wake) = Relay::new(&self.pool, publisher, options)?;
        tasks.spawn(
            "outbox-health",
            self.follow(OUTBOX, relay.health(), outbox_state),
        );
        tasks.spawn("outbox", relay.run(self.shutdown.workers()));

        let url = |setting, url: &str| {
            client::channel(url).map_err(|source| StartError::Url { setting, source })
        };
        let services = Services::new(
            url("ORDER_INVENTORY_URL", &settings.inventory_url)?,
            url("ORDER_PAYMENT_URL", &settings.payment_url)?,
            Duration::from_secs(settings.hold_ttl_seconds.into()),
            topics.order.clone(),
            wake.clone(),
        );
        let definition = Definition::build(settings.timing())?;
        let options = EngineOptions::new(owner);
        let engine = Engine::new(self.pool.clone(), definition, services, options);
        let (running, workers) = (engine.clone(), self.shutdown.workers());
        tasks.spawn("sagas", async move { running.run(workers).await });

        let watch = WatchOptions {
            streams_max: settings.watchers_max.into(),
            ..WatchOptions::default()
        };
        let watchers = Watchers::new(watch, self.shutdown.intake());
        let looking = watchers.clone();
        let (pool, workers) = (self.pool.clone(), self.shutdown.workers());
        tasks.spawn("watchers", looking.run(pool, workers));
        tasks.spawn("keys", purge_keys(self.pool.clone(), self.shutdown.clone()));

        Ok(App::new(app::Inner {
            pool: self.pool.clone(),
            engine,
            wake,
            order_topic: topics.order,
            hold_ttl_seconds: settings.hold_ttl_seconds,
            watchers,
            placing: SingleFlight::new(),
            cancelling: SingleFlight::new(),
        }))
    }

    /// What brings work in: outcomes and calls.
    fn start_intake(&self, tasks: &mut Tasks, app: App, grpc: TcpListener) {
        let settings = self.settings;
        let topics = Topics::new(&settings.topic_prefix).outcomes();
        let options = ConsumerOptions::new(
            &settings.kafka_brokers,
            settings.consumer_group(),
            topics.clone(),
            &settings.instance_id,
        );
        let check = check_keep(settings, topics, options.keep, self.shutdown.clone());
        tasks.intake("retention-check", check);
        let outcomes = Outcomes::new(app.engine.clone());
        let consumer = Consumer::new(options, self.pool.clone(), outcomes);
        tasks.spawn(
            "inbox-health",
            self.follow(INBOX, consumer.health(), inbox_state),
        );
        tasks.intake("inbox", consumer.run(self.shutdown.intake()));

        let orders = OrderServiceServer::new(Orders::new(app.clone()))
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let admin = SagaAdminServiceServer::new(SagaAdmin::new(app))
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let frame = Frame::new(status::DOMAIN)
            .describe(FILE_DESCRIPTOR_SET)
            .service(orders)
            .service(admin);
        tasks.intake("grpc", frame.serve(grpc, self.shutdown.clone()));
    }

    /// Tells `/readyz` what a part says of itself.
    fn follow<H: Clone + Send + Sync + 'static>(
        &self,
        name: &'static str,
        mut health: watch::Receiver<H>,
        state: fn(&H) -> Result<(), String>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (readiness, end) = (self.readiness.clone(), self.shutdown.workers());
        async move {
            loop {
                let now = state(&health.borrow_and_update());
                readiness.set(name, now);
                tokio::select! {
                    () = end.cancelled() => return,
                    // The part is gone: the shutdown has come that far.
                    changed = health.changed() => if changed.is_err() {
                        return end.cancelled().await;
                    },
                }
            }
        }
    }
}

fn outbox_state(health: &tercet_outbox::Health) -> Result<(), String> {
    match health {
        tercet_outbox::Health::Ready => Ok(()),
        tercet_outbox::Health::NotReady(why) => Err(why.clone()),
    }
}

fn inbox_state(health: &tercet_inbox::Health) -> Result<(), String> {
    match health {
        tercet_inbox::Health::Ready => Ok(()),
        tercet_inbox::Health::NotReady(why) => Err(why.clone()),
    }
}

/// Ends the process if inbox rows could go before the last message that they must stop. Beside the
/// consumer, because a broker that cannot say takes its time to say so.
fn check_keep(
    settings: &Settings,
    topics: Vec<String>,
    keep: Duration,
    shutdown: Shutdown,
) -> impl Future<Output = Result<(), tercet_inbox::Error>> + Send + 'static {
    let brokers = settings.kafka_brokers.clone();
    let unsaid = Duration::from_hours(settings.topic_retention_hours.into());
    async move {
        let intake = shutdown.intake();
        tokio::select! {
            checked = check_retention(&brokers, &topics, keep, REDRIVE_AGE_MAX, Some(unsaid)) => {
                checked?;
            }
            () = intake.cancelled() => {}
        }
        intake.cancelled().await;
        Ok(())
    }
}

/// Expired keys only take place: whoever sends one again takes it over.
async fn purge_keys(pool: PgPool, shutdown: Shutdown) {
    let end = shutdown.workers();
    loop {
        tokio::select! {
            () = end.cancelled() => return,
            () = tokio::time::sleep(PURGE_EVERY) => {}
        }
        if let Err(error) = tercet_idempotency::purge(&pool).await {
            tracing::warn!(%error, "expired idempotency keys stay for now");
        }
    }
}
