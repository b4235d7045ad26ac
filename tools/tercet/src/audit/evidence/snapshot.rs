//! One consistent look at a database.

use sqlx::{Connection as _, PgConnection};

/// A read-only transaction that sees the database as it was when it began.
pub(super) struct Snapshot {
    connection: PgConnection,
}

impl Snapshot {
    pub(super) async fn open(url: &str) -> sqlx::Result<Self> {
        let mut connection = PgConnection::connect(url).await?;
        sqlx::query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            .execute(&mut connection)
            .await?;
        Ok(Self { connection })
    }

    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Nothing was written: the end of the session is the end of the transaction.
    pub(super) async fn close(self) -> sqlx::Result<()> {
        self.connection.close().await
    }
}
