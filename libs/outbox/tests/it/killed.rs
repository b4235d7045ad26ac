//! A relay's process is killed between the broker's word and the mark, and started again.

use std::{
    process::{Child, Command},
    time::{Duration, Instant},
};

use tercet_outbox::{KafkaPublisher, Relay, RelayOptions, enqueue};
use tercet_testbed::{eventually, kafka, postgres::TestDatabase};
use tokio_util::sync::CancellationToken;

use crate::support::{database, event, pending};

/// Not a test: the process that is killed. It runs until then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the tests of this file, as a process of its own"]
async fn publish_until_killed() {
    let env = |name: &str| std::env::var(name).unwrap();
    let pool = sqlx::PgPool::connect(&env("KILLED_DATABASE"))
        .await
        .unwrap();
    let publisher =
        KafkaPublisher::new(&kafka::brokers(), "killed", Duration::from_secs(2)).unwrap();
    let options = RelayOptions::new(env("KILLED_OWNER"), "//test/outbox");
    let (relay, _wake) = Relay::new(&pool, publisher, options).unwrap();
    relay.run(CancellationToken::new()).await;
}

fn spawn(database: &TestDatabase, owner: &str, crash_at: &str) -> Process {
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::publish_until_killed",
            "--ignored",
            "--nocapture",
        ])
        .env("KILLED_DATABASE", database.url())
        .env("KILLED_OWNER", owner)
        .env(tercet_crash_point::VARIABLE, crash_at)
        .spawn()
        .unwrap();
    Process(child)
}

/// Killed with the test that started it, if it has not been before.
struct Process(Child);

impl Process {
    fn kill(mut self) {
        self.0.kill().unwrap(); // SIGKILL
        self.0.wait().unwrap();
    }

    fn aborts(mut self) {
        assert!(
            !self.0.wait().unwrap().success(),
            "it reaches its crash point"
        );
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Under another name, as after a kill of a host: the heir waits for the lease, and no longer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_between_the_acknowledgement_and_the_mark_publishes_again_under_the_same_id() {
    let (database, topic) = (database().await, kafka::unique("outbox"));
    kafka::create_topic(&topic, 1).await;
    let mut tx = database.pool().begin().await.unwrap();
    for version in 1..=3 {
        let mut event = event("A", version);
        event.topic.clone_from(&topic);
        enqueue(&mut tx, event).await.unwrap();
    }
    tx.commit().await.unwrap();

    spawn(&database, "first", "outbox.before_mark").aborts();
    assert_eq!(pending(database.pool()).await, 3, "nothing is marked");
    let killed_at = Instant::now();
    let process = spawn(&database, "heir", "never");
    eventually("all published", Duration::from_secs(20), async || {
        (pending(database.pool()).await == 0).then_some(())
    })
    .await;
    assert!(
        killed_at.elapsed() < Duration::from_secs(9),
        "{:?}",
        killed_at.elapsed()
    );
    process.kill();

    let records = kafka::read_all(&topic).await;
    let mut first_seen: Vec<(String, String)> = Vec::new();
    for record in &records {
        let version = record.headers["ce_aggregateversion"].clone();
        let id = record.headers["ce_id"].clone();
        match first_seen.iter().find(|(seen, _)| *seen == version) {
            Some((_, first_id)) => assert_eq!(*first_id, id, "a duplicate has its event's id"),
            None => first_seen.push((version, id)),
        }
    }
    let versions: Vec<&str> = first_seen
        .iter()
        .map(|(version, _)| version.as_str())
        .collect();
    assert_eq!(versions, ["1", "2", "3"]);
    assert!(
        records.len() > 3,
        "what was acknowledged and not marked came again"
    );
}
