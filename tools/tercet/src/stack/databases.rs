//! Three databases of one run, each owned by its service's owner role.

use anyhow::Context as _;
use futures::future;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, postgres::PgConnectOptions};
use tercet_testbed::postgres::{ServiceDatabase, create_roles, create_service_database};

/// One service's database.
#[derive(Debug, Clone)]
pub struct Database {
    /// Its name.
    pub name: String,
    /// For audits and assertions: connects as the superuser.
    pub admin_url: String,
    /// For migrations: connects as the owner.
    pub owner_url: String,
    /// For the service: connects as the restricted role.
    pub service_url: String,
}

/// The three databases of a stack.
#[derive(Debug, Clone)]
pub struct Databases {
    /// The order service's.
    pub order: Database,
    /// The payment service's.
    pub payment: Database,
    /// The inventory service's.
    pub inventory: Database,
}

impl Databases {
    /// Makes the roles and three empty databases; the services migrate them.
    pub(super) async fn create(server_url: &str, stack: &str) -> anyhow::Result<Self> {
        create_roles(server_url).await?;
        Ok(Self {
            order: create(server_url, "order", stack).await?,
            payment: create(server_url, "payment", stack).await?,
            inventory: create(server_url, "inventory", stack).await?,
        })
    }

    /// Drops them, whoever is still connected. All at once: each waits for a checkpoint.
    pub(super) async fn drop_all(&self, server_url: &str) -> anyhow::Result<()> {
        let databases = [&self.order, &self.payment, &self.inventory];
        let drops = databases.map(|database| drop_one(server_url, &database.name));
        future::try_join_all(drops).await?;
        Ok(())
    }
}

async fn drop_one(server_url: &str, name: &str) -> anyhow::Result<()> {
    let mut server = PgConnection::connect(server_url).await?;
    let sql = format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)");
    sqlx::query(AssertSqlSafe(sql)).execute(&mut server).await?;
    server.close().await?;
    Ok(())
}

async fn create(server_url: &str, service: &str, stack: &str) -> anyhow::Result<Database> {
    let name = format!("{stack}_{service}").replace('-', "_");
    let ServiceDatabase {
        owner_url,
        service_url,
    } = create_service_database(server_url, service, &name).await?;
    let options: PgConnectOptions = server_url.parse().context("the PostgreSQL URL")?;
    let admin_url = sqlx::ConnectOptions::to_url_lossy(&options.database(&name)).to_string();
    Ok(Database {
        name,
        admin_url,
        owner_url,
        service_url,
    })
}
