use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection};

use super::service_database::{connect, url_of};

/// A database that is only ever copied.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) name: String,
}

impl Template {
    /// Finds the template for `content`, or builds it: created for `owner`, filled by `fill`.
    ///
    /// Test processes race for it, so one builds under an advisory lock while the others wait. It is
    /// built under another name and renamed last: a template that exists is complete, whatever was
    /// killed half way.
    pub(super) async fn ensure(
        server_url: &str,
        label: &str,
        content: &str,
        owner: Option<&str>,
        fill: impl AsyncFnOnce(&mut PgConnection) -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let mut admin = connect(server_url).await?;
        let hash: String = sqlx::query_scalar("SELECT md5($1)")
            .bind(content)
            .fetch_one(&mut admin)
            .await?;
        let name = format!("template_{label}_{}", &hash[..12]);

        sqlx::query("SELECT pg_advisory_lock(hashtext($1))")
            .bind(&name)
            .execute(&mut admin)
            .await?;
        let exists: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
                .bind(&name)
                .fetch_one(&mut admin)
                .await?;
        if !exists {
            build(server_url, &mut admin, &name, owner, fill).await?;
        }
        admin.close().await?; // and with it the lock, also on every early return above
        Ok(Self { name })
    }
}

async fn build(
    server_url: &str,
    admin: &mut PgConnection,
    name: &str,
    owner: Option<&str>,
    fill: impl AsyncFnOnce(&mut PgConnection) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let building = format!("{name}_building");
    let owned_by = owner
        .map(|role| format!(r#" OWNER "{role}""#))
        .unwrap_or_default();
    run(
        admin,
        format!(r#"DROP DATABASE IF EXISTS "{building}" WITH (FORCE)"#),
    )
    .await?;
    run(admin, format!(r#"CREATE DATABASE "{building}"{owned_by}"#)).await?;

    let mut connection = connect(&url_of(server_url, &building, owner)?).await?;
    fill(&mut connection).await?;
    connection.close().await?;

    // A template with a session in it cannot be copied.
    run(
        admin,
        format!(r#"ALTER DATABASE "{building}" ALLOW_CONNECTIONS false"#),
    )
    .await?;
    // The closed session may still be on its way out: end it rather than wait for it.
    sqlx::query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1")
        .bind(&building)
        .execute(&mut *admin)
        .await?;
    // The server waits up to 5 s for sessions to go before it refuses.
    run(
        admin,
        format!(r#"ALTER DATABASE "{building}" RENAME TO "{name}""#),
    )
    .await
}

async fn run(connection: &mut PgConnection, sql: String) -> anyhow::Result<()> {
    sqlx::query(AssertSqlSafe(sql)).execute(connection).await?;
    Ok(())
}
