//! Partition leases: who publishes what. They save duplicates; order rests on the waves alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use sqlx::{PgConnection, PgPool, Row as _};
use tokio::time::Instant;

use crate::Error;

/// Fixed by the schema.
pub(crate) const PARTITIONS: usize = 32;

/// The partitions this relay holds, as far as it can know without asking.
#[derive(Debug)]
pub(crate) struct Leases {
    owner: String,
    length: Duration,
    /// How long before its end a lease is no longer used to queue records: the time a record can be
    /// under way, and a margin.
    reserve: Duration,
    held: BTreeMap<i16, Lease>,
    /// Given up for another relay: nothing is queued, and they go when nothing is under way.
    leaving: BTreeSet<i16>,
    relays: usize,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    epoch: i64,
    /// By our monotonic clock, counted from *before* the renewal was sent: never later than the
    /// database's own end of it, even if the process is stopped in between.
    until: Instant,
}

impl Leases {
    pub(crate) fn new(owner: String, length: Duration, reserve: Duration) -> Self {
        Self {
            owner,
            length,
            reserve,
            held: BTreeMap::new(),
            leaving: BTreeSet::new(),
            relays: 1,
        }
    }

    /// Whether a record of this partition may be queued now.
    pub(crate) fn may_queue(&self, partition: i16) -> bool {
        !self.leaving.contains(&partition)
            && self
                .held
                .get(&partition)
                .is_some_and(|lease| Instant::now() + self.reserve < lease.until)
    }

    /// The partitions of which records may be queued now.
    pub(crate) fn usable(&self) -> Vec<i16> {
        self.held
            .keys()
            .copied()
            .filter(|partition| self.may_queue(*partition))
            .collect()
    }

    /// The epoch of the lease on this partition, while it is held.
    pub(crate) fn epoch(&self, partition: i16) -> Option<i64> {
        self.held.get(&partition).map(|lease| lease.epoch)
    }

    /// Whether this relay is the only one alive.
    pub(crate) fn alone(&self) -> bool {
        self.relays <= 1
    }

    /// Renews what is held, hands over what is above this relay's share, takes what is free up to
    /// it. Answers with the partitions that were lost: their queued records must be thrown away.
    ///
    /// `busy` tells whether a record of the partition is under way.
    pub(crate) async fn keep(
        &mut self,
        pool: &PgPool,
        busy: impl Fn(i16) -> bool,
    ) -> Result<Vec<i16>, Error> {
        let mut tx = pool.begin().await?;
        // The relay's sessions commit without waiting for the disk. A lease that a crash of the
        // database takes back could be held twice.
        sqlx::query("SET LOCAL synchronous_commit = on")
            .execute(&mut *tx)
            .await?;
        let relays = register(&mut tx, &self.owner, self.length).await?;
        let share = PARTITIONS.div_ceil(relays.max(1));

        let until = Instant::now() + self.length;
        let mut held: BTreeMap<i16, Lease> = self
            .renew(&mut tx)
            .await?
            .into_iter()
            .map(|(partition, epoch)| (partition, Lease { epoch, until }))
            .collect();
        let lost = self
            .held
            .keys()
            .copied()
            .filter(|p| !held.contains_key(p))
            .collect();

        let mut leaving: BTreeSet<i16> = held.keys().copied().skip(share).collect();
        let idle: Vec<i16> = leaving.iter().copied().filter(|p| !busy(*p)).collect();
        self.release(&mut tx, &idle).await?;
        for partition in &idle {
            held.remove(partition);
            leaving.remove(partition);
        }

        let wanted = share.saturating_sub(held.len());
        let known: Vec<i16> = held.keys().copied().collect();
        let until = Instant::now() + self.length;
        for (partition, epoch) in self.claim(&mut tx, wanted, &known).await? {
            held.insert(partition, Lease { epoch, until });
        }
        tx.commit().await?;
        (self.held, self.leaving, self.relays) = (held, leaving, relays);
        Ok(lost)
    }

    /// Gives everything back, so that the next relay need not wait for the leases to end.
    pub(crate) async fn give_back(&mut self, pool: &PgPool) -> Result<(), Error> {
        let all: Vec<i16> = self.held.keys().copied().collect();
        let mut conn = pool.acquire().await?;
        self.release(&mut conn, &all).await?;
        sqlx::query("DELETE FROM outbox_relays WHERE owner = $1")
            .bind(&self.owner)
            .execute(&mut *conn)
            .await?;
        self.held.clear();
        Ok(())
    }

    /// Only what the database still counts as ours: a lease that has ended is claimed anew, with a
    /// new epoch, by whoever comes first.
    async fn renew(&self, conn: &mut PgConnection) -> Result<Vec<(i16, i64)>, Error> {
        let (partitions, epochs) = self.partitions_and_epochs();
        let rows = sqlx::query(
            "UPDATE outbox_partitions AS o SET lease_until = now() + make_interval(secs => $2)
               FROM unnest($3::smallint[], $4::bigint[]) AS mine (partition, epoch)
              WHERE o.partition = mine.partition AND o.epoch = mine.epoch
                AND o.owner = $1 AND o.lease_until > now()
            RETURNING o.partition, o.epoch",
        )
        .bind(&self.owner)
        .bind(self.length.as_secs_f64())
        .bind(partitions)
        .bind(epochs)
        .fetch_all(conn)
        .await?;
        pairs(&rows)
    }

    /// Takes partitions that nobody holds. One that is in our name without our knowing it belonged
    /// to a process of the same name that ended: it need not be waited for.
    async fn claim(
        &self,
        conn: &mut PgConnection,
        wanted: usize,
        known: &[i16],
    ) -> Result<Vec<(i16, i64)>, Error> {
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let rows = sqlx::query(
            "UPDATE outbox_partitions
                SET owner = $1, lease_until = now() + make_interval(secs => $2), epoch = epoch + 1
              WHERE partition IN (
                    SELECT partition FROM outbox_partitions
                     WHERE (lease_until <= now() OR owner = $1) AND partition <> ALL ($3)
                     ORDER BY partition LIMIT $4 FOR UPDATE SKIP LOCKED)
            RETURNING partition, epoch",
        )
        .bind(&self.owner)
        .bind(self.length.as_secs_f64())
        .bind(known)
        .bind(i64::try_from(wanted).unwrap_or(i64::MAX))
        .fetch_all(conn)
        .await?;
        pairs(&rows)
    }

    async fn release(&self, conn: &mut PgConnection, partitions: &[i16]) -> Result<(), Error> {
        if partitions.is_empty() {
            return Ok(());
        }
        let epochs: Vec<i64> = partitions
            .iter()
            .map(|p| self.epoch(*p).unwrap_or_default())
            .collect();
        sqlx::query(
            "UPDATE outbox_partitions AS o SET owner = NULL, lease_until = '-infinity'
               FROM unnest($2::smallint[], $3::bigint[]) AS mine (partition, epoch)
              WHERE o.partition = mine.partition AND o.epoch = mine.epoch AND o.owner = $1",
        )
        .bind(&self.owner)
        .bind(partitions)
        .bind(epochs)
        .execute(conn)
        .await?;
        Ok(())
    }

    fn partitions_and_epochs(&self) -> (Vec<i16>, Vec<i64>) {
        self.held
            .iter()
            .map(|(partition, lease)| (*partition, lease.epoch))
            .unzip()
    }
}

/// Says that this relay is alive, and counts those that are.
async fn register(conn: &mut PgConnection, owner: &str, length: Duration) -> Result<usize, Error> {
    sqlx::query(
        "INSERT INTO outbox_relays (owner, alive_until)
         VALUES ($1, now() + make_interval(secs => $2))
         ON CONFLICT (owner) DO UPDATE SET alive_until = excluded.alive_until",
    )
    .bind(owner)
    .bind(length.as_secs_f64())
    .execute(&mut *conn)
    .await?;
    sqlx::query("DELETE FROM outbox_relays WHERE alive_until < now() - interval '1 hour'")
        .execute(&mut *conn)
        .await?;
    let alive: i64 =
        sqlx::query_scalar("SELECT count(*) FROM outbox_relays WHERE alive_until > now()")
            .fetch_one(conn)
            .await?;
    Ok(usize::try_from(alive).unwrap_or(1))
}

fn pairs(rows: &[sqlx::postgres::PgRow]) -> Result<Vec<(i16, i64)>, Error> {
    rows.iter()
        .map(|row| Ok((row.try_get("partition")?, row.try_get("epoch")?)))
        .collect()
}
