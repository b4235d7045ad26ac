use std::fmt::Write as _;

use sqlx::migrate::Migrator;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection};
use uuid::Uuid;

use super::service_database::{connect, create_roles, restrict, url_of};
use super::template::Template;

/// The variable that names the test server: a URL that connects as a superuser.
pub const SERVER_VARIABLE: &str = "TERCET_TEST_POSTGRES_URL";

/// Enough for tests that hold several transactions open; many tests share one server.
const POOL_CONNECTIONS_MAX: u32 = 16;

/// The test server's URL, from [`SERVER_VARIABLE`].
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads this variable"
)]
pub fn server_url() -> String {
    std::env::var(SERVER_VARIABLE).unwrap_or_else(|_| {
        panic!("{SERVER_VARIABLE} is not set: run the tests by `make test` or `testbed exec -- …`")
    })
}

/// A database of one's own, cloned from a template that is built once per distinct content.
///
/// Dropped with the value, unless the test is failing: then it stays and its URL is printed.
#[derive(Debug)]
pub struct TestDatabase {
    server_url: String,
    database: String,
    url: String,
    pool: PgPool,
}

impl TestDatabase {
    /// A database made by plain scripts, for libraries with a `schema.sql` of their own.
    pub async fn from_sql(name: &str, scripts: &[&str]) -> Self {
        let server_url = server_url();
        let content = scripts.join("\n-- next script\n");
        let template = Template::ensure(&server_url, name, &content, None, async |connection| {
            for script in scripts {
                sqlx::raw_sql(AssertSqlSafe(*script))
                    .execute(&mut *connection)
                    .await?;
            }
            Ok(())
        })
        .await
        .unwrap_or_else(|error| panic!("template for {name}: {error:#}"));
        Self::clone_of(&template, server_url, name).await
    }

    /// The database of service `name` (`order`, `payment`, `inventory`), migrated by its owner.
    ///
    /// [`url`](Self::url) and [`pool`](Self::pool) are the superuser's, for looking and preparing;
    /// the service under test connects by [`url_as`](Self::url_as)`("order_service")`.
    pub async fn migrated(name: &str, migrator: &Migrator) -> Self {
        let server_url = server_url();
        let owner = format!("{name}_owner");
        let content = fingerprint(migrator);
        let ensured = async {
            create_roles(&server_url).await?;
            Template::ensure(
                &server_url,
                name,
                &content,
                Some(&owner),
                async |connection| Ok(migrator.run_direct(None, connection, false).await?),
            )
            .await
        };
        let template = ensured
            .await
            .unwrap_or_else(|error| panic!("template for {name}: {error:#}"));
        let database = Self::clone_of(&template, server_url, name).await;

        let mut connection = database.pool.acquire().await.unwrap();
        restrict(&mut connection, name, &database.database)
            .await
            .unwrap();
        database
    }

    /// As the superuser.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// As `role`, whose password in tests is its name.
    pub fn url_as(&self, role: &str) -> String {
        url_of(&self.server_url, &self.database, Some(role)).unwrap()
    }

    /// As the superuser.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// A pool of its own that connects as `role`.
    pub async fn pool_as(&self, role: &str) -> PgPool {
        connect_pool(&self.url_as(role)).await
    }

    async fn clone_of(template: &Template, server_url: String, label: &str) -> Self {
        // v7 ids of one moment share their beginning: the end is the random part.
        let id = Uuid::now_v7().simple().to_string();
        let database = format!("test_{label}_{}", &id[16..]);
        let sql = format!(
            r#"CREATE DATABASE "{database}" TEMPLATE "{}""#,
            template.name
        );

        let mut admin = connect(&server_url).await.unwrap();
        sqlx::query(AssertSqlSafe(sql))
            .execute(&mut admin)
            .await
            .unwrap();
        admin.close().await.unwrap();

        let url = url_of(&server_url, &database, None).unwrap();
        let pool = connect_pool(&url).await;
        Self {
            server_url,
            database,
            url,
            pool,
        }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the test failed; its database is kept: {}", self.url);
            return;
        }
        let (server_url, database) = (self.server_url.clone(), self.database.clone());
        // The test's own runtime cannot be entered again from here, so the drop has a small one.
        let dropper = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(drop_database(&server_url, &database))
        });
        match dropper.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => eprintln!("cannot drop database {}: {error:#}", self.database),
            Err(_) => eprintln!("cannot drop database {}", self.database),
        }
    }
}

async fn drop_database(server_url: &str, database: &str) -> anyhow::Result<()> {
    let mut admin = connect(server_url).await?;
    // FORCE: the test's pool, and services that were not ended, may still be connected.
    let sql = format!(r#"DROP DATABASE IF EXISTS "{database}" WITH (FORCE)"#);
    sqlx::query(AssertSqlSafe(sql)).execute(&mut admin).await?;
    admin.close().await?;
    Ok(())
}

async fn connect_pool(url: &str) -> PgPool {
    PgPoolOptions::new()
        .max_connections(POOL_CONNECTIONS_MAX)
        .connect(url)
        .await
        .unwrap_or_else(|error| panic!("cannot connect to {url}: {error}"))
}

fn fingerprint(migrator: &Migrator) -> String {
    migrator
        .iter()
        .fold(String::new(), |mut content, migration| {
            let _ = write!(
                content,
                "{}:{:02x?};",
                migration.version, migration.checksum
            );
            content
        })
}
