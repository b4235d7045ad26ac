//! A consumer's process is killed, at once and half way, and started again under its name.

use std::{
    process::{Child, Command},
    time::{Duration, Instant},
};

use tercet_inbox::{Consumer, ConsumerOptions};
use tercet_testbed::{kafka, postgres::TestDatabase};
use tokio_util::sync::CancellationToken;

use crate::support::{Journal, Script, database, effects, effects_are, send};

/// Longer than the test: whoever waits for it fails.
const SESSION: Duration = Duration::from_secs(45);

/// Not a test: the process that is killed. It runs until then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the tests of this file, as a process of its own"]
async fn consume_until_killed() {
    let env = |name: &str| std::env::var(name).unwrap();
    let (topic, group) = (env("KILLED_TOPIC"), env("KILLED_GROUP"));
    let pool = sqlx::PgPool::connect(&env("KILLED_DATABASE"))
        .await
        .unwrap();
    let mut options = ConsumerOptions::new(kafka::brokers(), &group, vec![topic], "killed-1");
    options.session_timeout = SESSION;
    let journal = Journal {
        pool: pool.clone(),
        script: Script::default(),
    };
    Consumer::new(options, pool, journal)
        .run(CancellationToken::new())
        .await
        .unwrap();
}

fn spawn(database: &TestDatabase, topic: &str, group: &str, crash_at: &str) -> Process {
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::consume_until_killed",
            "--ignored",
            "--nocapture",
        ])
        .env("KILLED_DATABASE", database.url())
        .env("KILLED_TOPIC", topic)
        .env("KILLED_GROUP", group)
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_consumer_that_is_started_again_goes_on_within_seconds() {
    let (database, topic) = (database().await, kafka::unique("inbox"));
    let group = kafka::unique("group");
    kafka::create_topic(&topic, 3).await;
    let mut longest = Duration::ZERO;
    for round in 0..3 {
        let started = Instant::now();
        let process = spawn(&database, &topic, &group, "never");
        for n in 0..10 {
            send(&topic, &format!("k{n}"), &[&format!("{round}-{n}")]).await;
        }
        effects_are(database.pool(), (round + 1) * 10, 20).await;
        if round > 0 {
            longest = longest.max(started.elapsed());
        }
        process.kill();
    }
    assert!(
        longest < Duration::from_secs(10),
        "{longest:?}, and not the session's {SESSION:?}"
    );
    let mut found = effects(database.pool()).await;
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 30, "each message had its effect, once");
}

/// Killed after the effect was committed and before the offset was: the message comes again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_between_the_effect_and_the_offset_gives_one_effect() {
    let (database, topic) = (database().await, kafka::unique("inbox"));
    let group = kafka::unique("group");
    kafka::create_topic(&topic, 1).await;
    send(&topic, "k", &["one", "two"]).await;
    spawn(&database, &topic, &group, "inbox.after_handle").aborts();
    assert_eq!(effects(database.pool()).await, ["one"]);

    let process = spawn(&database, &topic, &group, "never");
    assert_eq!(effects_are(database.pool(), 2, 20).await, ["one", "two"]);
    process.kill();
}

/// A message whose handling ends the process every time: parked after its attempts, by the process
/// that finds them used up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_kills_every_process_is_parked_and_the_next_goes_on() {
    let (database, topic) = (database().await, kafka::unique("inbox"));
    let group = kafka::unique("group");
    kafka::create_topic(&topic, 1).await;
    send(&topic, "k", &["kills", "after"]).await;
    for _ in 0..5 {
        spawn(&database, &topic, &group, "inbox.before_handle").aborts();
    }
    let process = spawn(&database, &topic, &group, "never");
    assert_eq!(effects_are(database.pool(), 1, 20).await, ["after"]);
    process.kill();
    assert_eq!(
        crate::support::dead_letters(database.pool()).await[0].0,
        b"kills"
    );
}
