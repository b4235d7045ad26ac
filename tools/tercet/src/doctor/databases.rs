//! A service's database: reachable, new enough, of our schema, and its clock near ours.

use std::{str::FromStr as _, time::Duration};

use sqlx::{
    ConnectOptions as _, Connection as _, PgConnection, Row as _, postgres::PgConnectOptions,
};
use time::OffsetDateTime;
use tokio::time::{Instant, timeout};

use super::{
    Check, Way,
    schema::{self, Schema},
};
use crate::why::words::span;

const WITHIN: Duration = Duration::from_secs(3);
const VERSION_MIN: u32 = 150_000;

/// What was found at one database.
#[derive(Debug, Clone)]
pub(super) struct Database {
    pub(super) service: &'static str,
    /// `host:port/name`.
    pub(super) address: String,
    /// Whether a PostgreSQL answers, even if it refuses us.
    pub(super) is_postgres: bool,
    pub(super) state: Result<Found, String>,
}

/// A server that answers.
#[derive(Debug, Clone)]
pub(super) struct Found {
    version: u32,
    /// Not asked of a server that is too old.
    schema: Option<Result<Schema, String>>,
    /// How far its clock is ahead of ours at least, in milliseconds; negative: behind.
    skew_ms: Option<i128>,
}

/// Looks at it as the service, and as its owner for the schema.
pub(super) async fn look(service: &'static str, url: &str, migrate_url: &str) -> Database {
    let options = PgConnectOptions::from_str(url);
    let address = options.as_ref().map_or_else(
        |_| "a URL that is not valid".to_owned(),
        |options| {
            let name = options.get_database().unwrap_or_default();
            format!("{}:{}/{name}", options.get_host(), options.get_port())
        },
    );
    let state = match options {
        Err(_) => Err(sqlx::Error::Configuration("its URL is not valid".into())),
        Ok(options) => timeout(WITHIN, found(service, options, migrate_url))
            .await
            .unwrap_or_else(|_| {
                let late = format!("no answer within {WITHIN:?}");
                Err(sqlx::Error::Io(std::io::Error::other(late)))
            }),
    };
    let is_postgres = matches!(state, Ok(_) | Err(sqlx::Error::Database(_)));
    let state = state.map_err(told);
    Database {
        service,
        address,
        is_postgres,
        state,
    }
}

async fn found(
    service: &'static str,
    options: PgConnectOptions,
    migrate_url: &str,
) -> sqlx::Result<Found> {
    let options = options.application_name("tercet doctor");
    let mut connection = options.connect().await?;
    let version = connection.server_version_num().unwrap_or_default();
    if version < VERSION_MIN {
        return Ok(Found {
            version,
            schema: None,
            skew_ms: None,
        });
    }
    let skew_ms = skew(&mut connection).await?;
    // The service itself may not read which migrations were applied.
    let schema = match PgConnection::connect(migrate_url).await {
        Ok(mut owner) => applied(&mut owner).await,
        Err(_) => applied(&mut connection).await,
    };
    Ok(Found {
        version,
        schema: Some(
            schema
                .map(|applied| schema::compare(&applied, schema::known(service)))
                .map_err(told),
        ),
        skew_ms: Some(skew_ms),
    })
}

fn told(error: sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Configuration(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// The server's now lies somewhere between the question and the answer; what is sure counts.
#[expect(
    clippy::disallowed_methods,
    reason = "this machine's clock is what is looked at"
)]
async fn skew(connection: &mut PgConnection) -> sqlx::Result<i128> {
    let (asked, began) = (OffsetDateTime::now_utc(), Instant::now());
    let theirs: OffsetDateTime = sqlx::query_scalar("SELECT clock_timestamp()")
        .fetch_one(connection)
        .await?;
    let answered = asked + began.elapsed();
    Ok(apart(theirs, asked, answered))
}

fn apart(theirs: OffsetDateTime, asked: OffsetDateTime, answered: OffsetDateTime) -> i128 {
    if theirs < asked {
        (theirs - asked).whole_milliseconds()
    } else if theirs > answered {
        (theirs - answered).whole_milliseconds()
    } else {
        0
    }
}

async fn applied(connection: &mut PgConnection) -> sqlx::Result<Vec<(i64, Vec<u8>)>> {
    let there: bool = sqlx::query_scalar("SELECT to_regclass('_sqlx_migrations') IS NOT NULL")
        .fetch_one(&mut *connection)
        .await?;
    if !there {
        return Ok(Vec::new());
    }
    let rows = sqlx::query("SELECT version, checksum FROM _sqlx_migrations ORDER BY version")
        .fetch_all(connection)
        .await?;
    let rows = rows.iter();
    rows.map(|row| Ok((row.try_get("version")?, row.try_get("checksum")?)))
        .collect()
}

impl Database {
    /// What there is to say about it.
    pub(super) fn checks(&self, skew_max: Duration) -> Vec<Check> {
        let (way, address) = (Way::Running, &self.address);
        let name = format!("{} database", self.service);
        let variable = format!("{}_DATABASE_URL", self.service.to_uppercase());
        let found = match &self.state {
            Err(why) => {
                let found = format!("{address} does not answer: {why}");
                return vec![Check::problem(
                    way,
                    name,
                    found,
                    format!("start PostgreSQL, or correct {variable}"),
                )];
            }
            Ok(found) => found,
        };
        let version = version(found.version);
        if found.version < VERSION_MIN {
            return vec![Check::problem(
                way,
                name,
                format!("{address} is PostgreSQL {version}"),
                "upgrade it to PostgreSQL 15 or newer",
            )];
        }
        let mut checks = vec![Check::ok(
            way,
            name,
            format!("{address}, PostgreSQL {version}"),
        )];
        checks.extend(found.schema.as_ref().map(|schema| self.schema(schema)));
        checks.extend(found.skew_ms.map(|skew| self.clock(skew, skew_max)));
        checks
    }

    fn schema(&self, schema: &Result<Schema, String>) -> Check {
        let (way, service) = (Way::Running, self.service);
        let name = format!("{service} schema");
        match schema {
            Ok(Schema::Same(version)) => Check::ok(way, name, format!("at migration {version}")),
            Ok(Schema::Newer(version)) => Check::problem(
                way,
                name,
                format!("it has migration {version}, which this version does not know"),
                format!("run a newer {service}-service (and tercet): this one refuses to start"),
            ),
            Ok(Schema::Older(version)) => Check::problem(
                way,
                name,
                format!("it lacks migration {version}"),
                format!("run {service}-service --migrate=only"),
            ),
            Ok(Schema::Changed(version)) => Check::problem(
                way,
                name,
                format!("its migration {version} is not the one that this version has"),
                "a released migration must not be edited: run the version that applied it",
            ),
            Err(why) => Check::warning(
                way,
                name,
                format!("cannot be read: {why}"),
                format!(
                    "give a URL of its owner ({}_MIGRATE_URL)",
                    service.to_uppercase()
                ),
            ),
        }
    }

    fn clock(&self, skew_ms: i128, skew_max: Duration) -> Check {
        let (way, name) = (Way::Running, format!("{} clock", self.service));
        let far = u64::try_from(skew_ms.unsigned_abs()).unwrap_or(u64::MAX);
        let far = Duration::from_millis(far);
        let side = if skew_ms < 0 { "behind" } else { "ahead of" };
        if far > skew_max {
            let found = format!(
                "the database's clock is {} {side} this machine's",
                span(far)
            );
            let remedy = "set both by NTP: times in logs and traces cannot be compared";
            Check::problem(way, name, found, remedy)
        } else {
            let found = format!("within {} of this machine's", span(skew_max));
            Check::ok(way, name, found)
        }
    }
}

/// `150014` as `15.14`.
fn version(number: u32) -> String {
    format!("{}.{}", number / 10_000, number % 10_000)
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn only_what_is_sure_of_a_clock_counts() {
        let asked = datetime!(2026-11-30 14:03:20 UTC);
        let answered = asked + time::Duration::milliseconds(40);
        let at = |ms| apart(asked + time::Duration::milliseconds(ms), asked, answered);
        assert_eq!((at(0), at(25), at(40)), (0, 0, 0));
        assert_eq!((at(-3_000), at(5_040)), (-3_000, 5_000));
    }

    #[test]
    fn versions_are_told_as_people_know_them() {
        assert_eq!(version(150_014), "15.14");
    }
}
