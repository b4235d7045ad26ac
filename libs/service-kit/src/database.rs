//! PostgreSQL: connect with patience, migrate as the owner, tell what is transient.

use std::str::FromStr;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use sqlx::migrate::{Migrate, MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};

const CONNECT_WITHIN: Duration = Duration::from_mins(1);
const CONNECT_PAUSE_MIN: Duration = Duration::from_millis(100);
const CONNECT_PAUSE_MAX: Duration = Duration::from_secs(2);
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);
/// After a failover a connection may still lead to the demoted server, which answers pings and
/// refuses writes (25006): for no longer than this.
const CONNECTION_LIFETIME: Duration = Duration::from_mins(5);
/// A connection that rested longer may be half open; pinging every time would cost a round trip.
const PING_AFTER_IDLE: Duration = Duration::from_secs(10);
/// sqlx sets no TCP keepalive: without this bound the ping of a half-open connection hangs.
const PING_TIMEOUT: Duration = Duration::from_millis(500);

/// How a service connects.
#[derive(Debug, Clone)]
pub struct PoolSettings {
    /// Shown in `pg_stat_activity`.
    pub application_name: String,
    /// Connections at most.
    pub connections_max: u32,
}

/// What a service does about its schema at start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum MigrateMode {
    /// Migrate, then run.
    #[default]
    Auto,
    /// Migrate, then end.
    Only,
    /// Run without migrating.
    Off,
}

/// Why there is no usable database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not a PostgreSQL URL. The URL may hold a password, so it is not repeated.
    #[error("the database URL is not valid")]
    Url(#[source] sqlx::Error),
    /// No answer in time.
    #[error("cannot connect to PostgreSQL at {address}")]
    Connect {
        /// Host, port and database.
        address: String,
        /// The last failure.
        #[source]
        source: sqlx::Error,
    },
    /// A newer version of the program has migrated this database.
    #[error(
        "the schema of {address} is newer than this program: it has migration {version}, which \
         this program does not know; run a newer version"
    )]
    SchemaNewer {
        /// Host, port and database.
        address: String,
        /// The unknown migration.
        version: i64,
    },
    /// A migration failed, or an applied one was changed afterwards.
    #[error("cannot migrate {address}")]
    Migrate {
        /// Host, port and database.
        address: String,
        /// What went wrong.
        #[source]
        source: MigrateError,
    },
}

impl Error {
    /// Trying again, unchanged, may help.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect { .. } => true,
            Self::Migrate {
                source: MigrateError::Execute(error),
                ..
            } => is_transient(error),
            Self::Url(_) | Self::SchemaNewer { .. } | Self::Migrate { .. } => false,
        }
    }
}

/// A pool with at least one working connection; waits up to a minute for the server to come up.
///
/// # Errors
/// The URL is wrong, or the server did not come up.
pub async fn connect(url: &str, settings: &PoolSettings) -> Result<PgPool, Error> {
    let options = options(url, &settings.application_name)?;
    let address = address(&options);
    let pool = PgPoolOptions::new()
        .max_connections(settings.connections_max)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .max_lifetime(CONNECTION_LIFETIME)
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for < PING_AFTER_IDLE {
                    return Ok(true);
                }
                let ping = tokio::time::timeout(PING_TIMEOUT, connection.ping()).await;
                Ok(matches!(ping, Ok(Ok(()))))
            })
        })
        .connect_lazy_with(options);
    with_patience(&address, || pool.acquire()).await?;
    Ok(pool)
}

/// Brings the schema up to date over a connection of its own, closed afterwards: the owner's rights
/// do not stay in the process, and an advisory lock left by a failed migration goes with the session.
///
/// With [`MigrateMode::Off`] nothing happens.
///
/// # Errors
/// The server is out of reach, the schema is newer than `migrator`, or a migration failed.
pub async fn migrate(url: &str, migrator: &Migrator, mode: MigrateMode) -> Result<(), Error> {
    if mode == MigrateMode::Off {
        return Ok(());
    }
    let options = options(url, "migrate")?;
    let address = address(&options);
    let mut connection = with_patience(&address, || options.connect()).await?;
    let result = run(&mut connection, migrator, &address).await;
    // Also after a failure: sqlx skips the unlock there, and the session holds the lock.
    if let Err(error) = connection.close().await {
        tracing::debug!(%error, "the migration's connection did not close cleanly");
    }
    result
}

async fn run(
    connection: &mut PgConnection,
    migrator: &Migrator,
    address: &str,
) -> Result<(), Error> {
    let wrap = |source| Error::Migrate {
        address: address.to_owned(),
        source,
    };
    migrator
        .run(&mut *connection)
        .await
        .map_err(|error| match error {
            MigrateError::VersionMissing(version) => Error::SchemaNewer {
                address: address.to_owned(),
                version,
            },
            source => wrap(source),
        })?;
    let applied = connection
        .list_applied_migrations(&migrator.table_name)
        .await
        .map_err(wrap)?;
    let version = applied.iter().map(|migration| migration.version).max();
    tracing::info!(address, version, "schema is up to date");
    Ok(())
}

/// The same work may succeed later, unchanged. Everything is transient but data errors: those of
/// class 22 (bad data), class 23 (a constraint), and what never reached the server.
pub fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(database) => !matches!(
            database.code().as_deref().and_then(|code| code.get(..2)),
            Some("22" | "23")
        ),
        sqlx::Error::RowNotFound
        | sqlx::Error::TypeNotFound { .. }
        | sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::Decode(_)
        | sqlx::Error::Encode(_)
        | sqlx::Error::Configuration(_) => false,
        _ => true,
    }
}

async fn with_patience<T, F>(address: &str, attempt: impl Fn() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let backoff = ExponentialBuilder::new()
        .with_min_delay(CONNECT_PAUSE_MIN)
        .with_max_delay(CONNECT_PAUSE_MAX)
        .with_jitter()
        .without_max_times()
        .with_total_delay(Some(CONNECT_WITHIN));
    attempt
        .retry(backoff)
        .when(is_transient)
        .notify(|error, pause| {
            tracing::warn!(address, %error, ?pause, "PostgreSQL does not answer yet");
        })
        .await
        .map_err(|source| Error::Connect {
            address: address.to_owned(),
            source,
        })
}

fn options(url: &str, application_name: &str) -> Result<PgConnectOptions, Error> {
    let options = PgConnectOptions::from_str(url).map_err(Error::Url)?;
    Ok(options.application_name(application_name))
}

/// Without user and password: fit for logs.
fn address(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or_default();
    format!("{}:{}/{database}", options.get_host(), options.get_port())
}
