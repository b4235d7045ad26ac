use std::str::FromStr;

use anyhow::Context;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// The same file a deployment runs.
const ROLES: &str = include_str!("../../../../migrations/roles.sql");

/// Where one service finds its database.
#[derive(Debug, Clone)]
pub struct ServiceDatabase {
    /// For migrations: connects as the owner.
    pub owner_url: String,
    /// For the running service: connects as the restricted role.
    pub service_url: String,
}

/// Creates the roles of all services on a server; harmless when they exist.
///
/// # Errors
/// The server is out of reach, or `server_url` does not connect as a superuser.
pub async fn create_roles(server_url: &str) -> anyhow::Result<()> {
    let mut connection = connect(server_url).await?;
    sqlx::raw_sql(ROLES)
        .execute(&mut connection)
        .await
        .context("cannot create the roles")?;
    connection.close().await?;
    Ok(())
}

/// Creates `database` for `service` (`order`, `payment`, `inventory`): owned by `{service}_owner`,
/// open to `{service}_service` and to nobody else. The roles must exist.
///
/// # Errors
/// The server is out of reach, a role is missing, or the database exists.
pub async fn create_service_database(
    server_url: &str,
    service: &str,
    database: &str,
) -> anyhow::Result<ServiceDatabase> {
    let mut connection = connect(server_url).await?;
    let sql = format!(r#"CREATE DATABASE "{database}" OWNER "{service}_owner""#);
    sqlx::query(AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .with_context(|| format!("cannot create database {database}"))?;
    restrict(&mut connection, service, database).await?;
    connection.close().await?;
    Ok(ServiceDatabase {
        owner_url: url_of(server_url, database, Some(&format!("{service}_owner")))?,
        service_url: url_of(server_url, database, Some(&format!("{service}_service")))?,
    })
}

/// Each service reaches its own database only. Not part of a template: CREATE DATABASE does not copy
/// permissions on the database itself.
pub(super) async fn restrict(
    connection: &mut PgConnection,
    service: &str,
    database: &str,
) -> anyhow::Result<()> {
    let sql = format!(
        r#"REVOKE ALL ON DATABASE "{database}" FROM PUBLIC;
           GRANT CONNECT ON DATABASE "{database}" TO "{service}_owner", "{service}_service""#
    );
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn connect(url: &str) -> anyhow::Result<PgConnection> {
    PgConnection::connect(url)
        .await
        .with_context(|| format!("cannot connect to {url}"))
}

/// `server_url` with another database and, when given, another role whose password is its name.
pub(super) fn url_of(
    server_url: &str,
    database: &str,
    role: Option<&str>,
) -> anyhow::Result<String> {
    let mut options = PgConnectOptions::from_str(server_url)?.database(database);
    if let Some(role) = role {
        options = options.username(role).password(role);
    }
    Ok(options.to_url_lossy().to_string())
}
