//! One running system: the services as real processes, on the test backends.
//!
//! A test that breaks things has a [`World`] of its own; those that only place orders may share one
//! ([`shared`]). A world that goes is audited first. One whose test failed stays: logs, databases and
//! topics, and the end of each log is shown.

mod crash;
mod failing;
pub(crate) mod shared;
mod shop;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::Value;
use sqlx::{PgPool, postgres::PgPoolOptions};
use tercet_cli::{
    audit::{self, TopicSource},
    screen::Ink,
    stack::{Broker, Part, Stack, StackOptions},
};
use tercet_contracts::order::v1::Order;
use tercet_testbed::{eventually, kafka, postgres};
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
    sync::{OwnedSemaphorePermit, Semaphore},
};

pub(crate) use shop::{Basket, PRICE_MINOR, Shop};

use failing::Failing;

/// A saga whose services answer ends well within this.
pub(crate) const ENDS_WITHIN: Duration = Duration::from_mins(1);
/// Longest wait for what needs no timer.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// Each is eight processes' worth of work for two cores.
const STACKS_MAX: usize = 2;
const LOOK_CONNECTIONS_MAX: u32 = 3;

/// One for all tests: a shared world outlives the test that started it.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));
static STACKS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(STACKS_MAX)));

/// Runs a test. Interrupted, it is dropped, and its processes go with it: they have process groups of
/// their own, so that a signal to ours would leave them behind.
pub(crate) fn run(test: impl Future<Output = ()>) {
    RUNTIME.block_on(async {
        tokio::select! {
            biased;
            () = interrupted() => panic!("interrupted"),
            () = test => {}
        }
    });
}

/// Waits for Ctrl-C or SIGTERM; comes at once to the tests that are still to start.
async fn interrupted() {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    let mut interrupt = signal(SignalKind::interrupt()).unwrap();
    let mut terminate = signal(SignalKind::terminate()).unwrap();
    if !INTERRUPTED.load(Ordering::SeqCst) {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
    INTERRUPTED.store(true, Ordering::SeqCst);
}

/// A running system and a customer in it.
pub(crate) struct World {
    pub(crate) stack: Stack,
    pub(crate) shop: Shop,
    pub(crate) looks: Looks,
    failing: Failing,
    _permit: OwnedSemaphorePermit,
}

/// The databases, for looking: as superuser, beside the services.
#[derive(Clone)]
pub(crate) struct Looks {
    pub(crate) order: PgPool,
    pub(crate) payment: PgPool,
    pub(crate) inventory: PgPool,
}

impl World {
    /// Starts a system for the test `name`.
    pub(crate) async fn start(
        name: &str,
        adjust: impl FnOnce(StackOptions) -> StackOptions,
    ) -> Self {
        let permit = Arc::clone(&STACKS).acquire_owned().await.unwrap();
        let began = Instant::now();
        // Real Kafka only: what these tests prove must not rest on a simulated broker.
        let broker = Broker::Kafka(kafka::brokers());
        let name = kafka::unique(name);
        let directory = directory_of(&name);
        let options = StackOptions::new(&postgres::server_url(), broker, &name, directory.clone());
        let failing = Failing::new(directory);
        let stack = Stack::start(adjust(options)).await;
        let stack = stack.unwrap_or_else(|error| panic!("{name}: {error:#}"));
        let looks = Looks::of(&stack);
        let shop = Shop::of(&stack, &looks);
        say(&format!("{name}: started in {:.1?}", began.elapsed()));
        Self {
            stack,
            shop,
            looks,
            failing,
            _permit: permit,
        }
    }

    /// Waits until the processor has been asked to charge the order.
    pub(crate) async fn charging(&self, order: &Order) {
        let what = format!("order {} is being charged", order.order_id);
        let books = format!("{}/sim/books", self.stack.url(Part::Gateway));
        eventually(&what, SOON, async || {
            let books: Value = reqwest::get(&books).await.ok()?.json().await.ok()?;
            let asked = books["intents"].as_array()?.iter().any(|intent| {
                intent["payment_id"] == order.payment_id
                    && intent["confirm_calls"].as_u64() > Some(0)
            });
            asked.then_some(())
        })
        .await;
    }

    /// Waits until no saga runs any more.
    pub(crate) async fn all_ended(&self, within: Duration) {
        eventually("every saga has ended", within, async || {
            let live: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM sagas WHERE status IN ('RUNNING', 'COMPENSATING')",
            )
            .fetch_one(&self.looks.order)
            .await
            .ok()?;
            (live == 0).then_some(())
        })
        .await;
    }

    /// Waits until everything that was written is published.
    pub(crate) async fn published(&self) {
        for (service, pool) in self.looks.by_service() {
            published(service, pool).await;
        }
    }

    /// Waits until everything that one service wrote is published.
    pub(crate) async fn published_by(&self, service: &str) {
        for (_, pool) in self
            .looks
            .by_service()
            .iter()
            .filter(|(name, _)| *name == service)
        {
            published(service, pool).await;
        }
    }

    /// The auditor finds nothing. Nothing is in flight any more, so everything is judged.
    pub(crate) async fn audit(&self) {
        self.audit_with(self.stack.audit_sources().topics).await;
    }

    /// The same, where the topics no longer hold all that was published.
    pub(crate) async fn audit_without_topics(&self, why: &str) {
        self.audit_with(TopicSource::Unread(why.to_owned())).await;
    }

    async fn audit_with(&self, topics: TopicSource) {
        self.published().await;
        let mut sources = self.stack.audit_sources();
        sources.topics = topics;
        let report = audit::audit(&sources, Duration::ZERO).await;
        let report = report.unwrap_or_else(|error| panic!("the audit: {error:#}"));
        assert!(report.clean, "{}", report.draw(Ink::PLAIN));
    }

    /// Audits and removes it.
    pub(crate) async fn close(self) {
        self.audit().await;
        self.remove().await;
    }

    /// The same where the broker is gone for good, and its topics with it.
    pub(crate) async fn remove_without_broker(mut self) {
        self.stack.forget_broker();
        self.remove().await;
    }

    /// Stops everything, and removes databases, topics and logs.
    pub(crate) async fn remove(self) {
        let Self {
            stack,
            looks,
            failing,
            ..
        } = self;
        if failing.has_failed() {
            return;
        }
        for (_, pool) in looks.by_service() {
            pool.close().await;
        }
        let directory = stack.directory().to_owned();
        stack
            .remove()
            .await
            .unwrap_or_else(|error| panic!("{error:#}"));
        std::fs::remove_dir_all(directory).unwrap();
    }
}

impl Looks {
    fn of(stack: &Stack) -> Self {
        let pool = |url: &str| {
            PgPoolOptions::new()
                .max_connections(LOOK_CONNECTIONS_MAX)
                .connect_lazy(url)
                .unwrap()
        };
        let databases = stack.databases();
        Self {
            order: pool(&databases.order.admin_url),
            payment: pool(&databases.payment.admin_url),
            inventory: pool(&databases.inventory.admin_url),
        }
    }

    fn by_service(&self) -> [(&'static str, &PgPool); 3] {
        [
            ("order", &self.order),
            ("payment", &self.payment),
            ("inventory", &self.inventory),
        ]
    }
}

async fn published(service: &str, pool: &PgPool) {
    let what = format!("the outbox of {service} is empty");
    eventually(&what, SOON, async || {
        let pending: i64 = sqlx::query_scalar("SELECT count(*) FROM outbox_pending")
            .fetch_one(pool)
            .await
            .ok()?;
        (pending == 0).then_some(())
    })
    .await;
}

/// Straight to the terminal: how long things took is of interest when they went well, too, and the
/// test harness shows what is printed only of tests that failed.
pub(crate) fn say(line: &str) {
    use std::io::Write as _;
    // Nobody reads it: no reason to fail.
    let _ = writeln!(std::io::stderr(), "  {line}");
}

fn directory_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
