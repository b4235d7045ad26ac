use std::time::Duration;

use tercet_outbox::Health;
use tercet_testbed::eventually;
use tokio_util::sync::CancellationToken;

use crate::support::{Answer, Broker, committed, database, options, pending, relay};

async fn owned_by(pool: &sqlx::PgPool, owner: &str) -> i64 {
    sqlx::query_scalar(
        "SELECT count(*) FROM outbox_partitions WHERE owner = $1 AND lease_until > now()",
    )
    .bind(owner)
    .fetch_one(pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn one_relay_takes_every_partition_and_gives_them_back_when_it_stops() {
    let (database, broker) = (database().await, Broker::default());
    let stop = CancellationToken::new();
    let running =
        tokio::task::spawn(relay(database.pool(), &broker, options("a")).run(stop.clone()));
    eventually("all partitions", Duration::from_secs(5), async || {
        (owned_by(database.pool(), "a").await == 32).then_some(())
    })
    .await;
    stop.cancel();
    running.await.unwrap();
    let (free, relays): (i64, i64) = sqlx::query_as(
        "SELECT (SELECT count(*) FROM outbox_partitions WHERE owner IS NULL AND lease_until <= now()),
                (SELECT count(*) FROM outbox_relays)",
    )
    .fetch_one(database.pool())
    .await
    .unwrap();
    assert_eq!((free, relays), (32, 0));
}

#[tokio::test]
async fn two_relays_share_the_partitions_and_never_hold_one_together() {
    let (database, broker) = (database().await, Broker::default());
    let stop = CancellationToken::new();
    let mut short = options("a");
    short.lease = Duration::from_secs(1);
    let first =
        tokio::task::spawn(relay(database.pool(), &broker, short.clone()).run(stop.clone()));
    eventually("all partitions", Duration::from_secs(5), async || {
        (owned_by(database.pool(), "a").await == 32).then_some(())
    })
    .await;
    short.owner = "b".to_owned();
    let second = tokio::task::spawn(relay(database.pool(), &broker, short).run(stop.clone()));
    eventually("an even share", Duration::from_secs(10), async || {
        let (a, b) = (
            owned_by(database.pool(), "a").await,
            owned_by(database.pool(), "b").await,
        );
        (a == 16 && b == 16).then_some(())
    })
    .await;
    for n in 0..40 {
        committed(database.pool(), &format!("order-{n}"), 1).await;
    }
    eventually("every event", Duration::from_secs(10), async || {
        (pending(database.pool()).await == 0).then_some(())
    })
    .await;
    stop.cancel();
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!(
        broker.topic().len(),
        40,
        "nobody else published any of them"
    );
}

/// A relay that was killed does not renew: another takes over when the lease has ended.
#[tokio::test]
async fn the_partitions_of_a_relay_that_died_are_taken_over() {
    let (database, broker) = (database().await, Broker::default());
    let mut short = options("dead");
    short.lease = Duration::from_secs(1);
    let mut dead = relay(database.pool(), &broker, short.clone());
    dead.one_pass().await.unwrap();
    drop(dead); // no give-back
    committed(database.pool(), "A", 1).await;

    short.owner = "heir".to_owned();
    let stop = CancellationToken::new();
    let heir = tokio::task::spawn(relay(database.pool(), &broker, short).run(stop.clone()));
    eventually("the event", Duration::from_secs(5), async || {
        (pending(database.pool()).await == 0).then_some(())
    })
    .await;
    stop.cancel();
    heir.await.unwrap();
    let epochs: Vec<i64> = sqlx::query_scalar("SELECT epoch FROM outbox_partitions")
        .fetch_all(database.pool())
        .await
        .unwrap();
    assert!(
        epochs.iter().all(|epoch| *epoch == 2),
        "each change of hands raised the epoch"
    );
}

/// A process that keeps its name over a restart need not wait for its own lease.
#[tokio::test]
async fn a_restarted_relay_has_its_partitions_back_at_once() {
    let (database, broker) = (database().await, Broker::default());
    let mut long = options("same");
    long.lease = Duration::from_hours(1);
    let mut killed = relay(database.pool(), &broker, long.clone());
    killed.one_pass().await.unwrap();
    drop(killed);
    let id = committed(database.pool(), "A", 1).await;
    assert_eq!(
        relay(database.pool(), &broker, long)
            .one_pass()
            .await
            .unwrap()
            .published,
        [id]
    );
}

/// Killed between the broker's acknowledgement and the mark: the event is published again, under the
/// same id. The kill is the drop of a relay whose record is written and not reported.
#[tokio::test]
async fn an_event_acknowledged_but_not_marked_is_published_again_under_its_id() {
    let (database, broker) = (database().await, Broker::default());
    committed(database.pool(), "A", 1).await;
    committed(database.pool(), "A", 2).await;
    broker.answers("A", 1, &[Answer::Hang]);
    let mut killed = relay(database.pool(), &broker, options("same"));
    {
        let mut pass = Box::pin(killed.one_pass());
        let written = eventually("the record", Duration::from_secs(5), async || {
            let _ = futures::poll!(&mut pass);
            (broker.hanging() == 1).then_some(())
        });
        written.await;
    }
    drop(killed);

    let mut restarted = relay(database.pool(), &broker, options("same"));
    assert_eq!(restarted.one_pass().await.unwrap().published, [1, 2]);
    let ids: Vec<(String, String)> = broker
        .records()
        .iter()
        .map(|r| {
            (
                r.headers["ce_aggregateversion"].clone(),
                r.headers["ce_id"].clone(),
            )
        })
        .collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(ids[0], ids[1], "the same event, twice");
}

/// Another relay took the partition while a record was under way: the producer is thrown away, and
/// the old owner has no say in the row any more.
#[tokio::test]
async fn a_lease_lost_under_way_purges_the_producer() {
    let (database, broker) = (database().await, Broker::default());
    committed(database.pool(), "A", 1).await;
    broker.answers("A", 1, &[Answer::Hang]);
    let stop = CancellationToken::new();
    let running =
        tokio::task::spawn(relay(database.pool(), &broker, options("old")).run(stop.clone()));
    eventually("the record under way", Duration::from_secs(5), async || {
        (broker.hanging() == 1).then_some(())
    })
    .await;
    sqlx::query(
        "UPDATE outbox_partitions
            SET owner = 'new', epoch = epoch + 1, lease_until = now() + interval '1 hour'",
    )
    .execute(database.pool())
    .await
    .unwrap();
    eventually("a new producer", Duration::from_secs(5), async || {
        (broker.rebuilt() == 1).then_some(())
    })
    .await;
    stop.cancel();
    running.await.unwrap();
    let (attempts, error): (i32, Option<String>) =
        sqlx::query_as("SELECT attempts, last_error FROM outbox_pending")
            .fetch_one(database.pool())
            .await
            .unwrap();
    assert_eq!((attempts, error), (0, None));
    assert_eq!(
        owned_by(database.pool(), "new").await,
        32,
        "the new owner's lease is untouched"
    );
}

/// A report that comes after the lease was lost still deletes its row: the event *was* published.
#[tokio::test]
async fn a_late_report_of_an_old_owner_is_a_mark_all_the_same() {
    let (database, broker) = (database().await, Broker::default());
    committed(database.pool(), "A", 1).await;
    broker.answers("A", 1, &[Answer::Hang]);
    let mut old = relay(database.pool(), &broker, options("old"));
    let mut pass = Box::pin(old.one_pass());
    eventually("the record under way", Duration::from_secs(5), async || {
        let _ = futures::poll!(&mut pass);
        (broker.hanging() == 1).then_some(())
    })
    .await;
    sqlx::query("UPDATE outbox_partitions SET owner = 'new', epoch = epoch + 1")
        .execute(database.pool())
        .await
        .unwrap();
    broker.let_go();
    assert_eq!(pass.await.unwrap().published, [1]);
    assert_eq!(pending(database.pool()).await, 0);
}

#[tokio::test]
async fn a_producer_that_breaks_is_rebuilt_and_its_events_go_out() {
    let (database, broker) = (database().await, Broker::default());
    committed(database.pool(), "A", 1).await;
    let fatal = tercet_outbox::PublishError::Fatal("out of order sequence".to_owned());
    broker.answers("A", 1, &[Answer::Fail(fatal)]);
    let stop = CancellationToken::new();
    let running =
        tokio::task::spawn(relay(database.pool(), &broker, options("r")).run(stop.clone()));
    eventually("the event", Duration::from_secs(5), async || {
        (pending(database.pool()).await == 0).then_some(())
    })
    .await;
    assert_eq!(broker.rebuilt(), 1);
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn health_tells_of_an_outage_and_of_its_end() {
    let (database, broker) = (database().await, Broker::default());
    broker.answers("A", 1, &vec![crate::support::unavailable(); 20]);
    let mut gentle = options("r");
    gentle.backoff_unavailable = Duration::from_millis(20);
    let (stop, relay) = (
        CancellationToken::new(),
        relay(database.pool(), &broker, gentle),
    );
    let mut health = relay.health();
    assert!(matches!(&*health.borrow(), Health::NotReady(why) if why == "starting"));
    let running = tokio::spawn(relay.run(stop.clone()));
    health
        .wait_for(|health| *health == Health::Ready)
        .await
        .unwrap();
    committed(database.pool(), "A", 1).await;
    health
        .wait_for(|health| *health != Health::Ready)
        .await
        .unwrap();
    health
        .wait_for(|health| *health == Health::Ready)
        .await
        .unwrap();
    assert_eq!(pending(database.pool()).await, 0);
    stop.cancel();
    running.await.unwrap();
}

/// Writers, three relays of which one is killed, and a broker that fails and loses its word: every
/// event is published, each aggregate's in order, and duplicates are the same event.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_relays_keep_every_aggregate_in_order_and_lose_nothing() {
    const AGGREGATES: i64 = 20;
    const VERSIONS: i64 = 15;
    let (database, broker) = (database().await, Broker::default());
    broker.flaky(9);
    let stop = CancellationToken::new();
    let mut relays = Vec::new();
    for owner in ["killed", "a", "b"] {
        let mut short = options(owner);
        short.lease = Duration::from_secs(1);
        let relay = relay(database.pool(), &broker, short);
        relays.push(tokio::spawn(relay.run(stop.clone())));
    }
    let writers = (0..AGGREGATES).map(|n| {
        let pool = database.pool().clone();
        tokio::spawn(async move {
            for version in 1..=VERSIONS {
                committed(&pool, &format!("order-{n}"), version).await;
            }
        })
    });
    for (n, writer) in writers.collect::<Vec<_>>().into_iter().enumerate() {
        writer.await.unwrap();
        if n == 5 {
            relays[0].abort();
        }
    }
    eventually("every event", Duration::from_secs(30), async || {
        (pending(database.pool()).await == 0).then_some(())
    })
    .await;
    stop.cancel();

    let topic = broker.topic();
    for n in 0..AGGREGATES {
        let mut first_seen: Vec<i64> = Vec::new();
        for (_, version) in topic.iter().filter(|(of, _)| *of == format!("order-{n}")) {
            let version = version.parse().unwrap();
            if !first_seen.contains(&version) {
                first_seen.push(version);
            }
        }
        assert_eq!(first_seen, (1..=VERSIONS).collect::<Vec<_>>(), "order-{n}");
    }
    let mut ids: Vec<String> = broker
        .records()
        .iter()
        .map(|record| record.headers["ce_id"].clone())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), usize::try_from(AGGREGATES * VERSIONS).unwrap());
}
