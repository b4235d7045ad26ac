//! A gateway-sim in this process, and its books.

use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use tercet_gateway_sim::{Settings, build};
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

/// How late the card that acts late acts: after more than one try of the service.
pub(crate) const LATE: Duration = Duration::from_millis(700);

pub(crate) struct Sim {
    pub(crate) addr: SocketAddr,
    _folder: tempfile::TempDir,
    _tasks: JoinSet<std::io::Result<()>>,
    _shutdown: DropGuard,
}

impl Sim {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let application = build(Settings {
            addr: "127.0.0.1:0".parse().unwrap(),
            data_dir: folder.path().to_owned(),
            key_ttl_seconds: 86_400,
            slow_ms: 50,
            late_ms: u32::try_from(LATE.as_millis()).unwrap(),
            pending_ms: 300,
            hang_ms: 5_000,
        })
        .await
        .unwrap();
        let addr = application.addr();
        let shutdown = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(application.run(shutdown.clone()));
        Self {
            addr,
            _folder: folder,
            _tasks: tasks,
            _shutdown: shutdown.drop_guard(),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    pub(crate) async fn release(&self, payment: Uuid) {
        let url = format!("{}/sim/release/{payment}", self.url());
        let answer = reqwest::Client::new().post(url).send().await.unwrap();
        assert!(answer.status().is_success());
    }

    async fn books(&self) -> Value {
        let books = reqwest::get(format!("{}/sim/books", self.url())).await;
        books.unwrap().json().await.unwrap()
    }

    /// What the processor knows of one payment.
    pub(crate) async fn account(&self, payment: Uuid) -> Account {
        let books = self.books().await;
        let of = |list: &str| -> Vec<Value> {
            let list = books[list].as_array().unwrap().iter();
            let id = payment.to_string();
            list.filter(|entry| entry["payment_id"] == *id)
                .cloned()
                .collect()
        };
        let intents = of("intents");
        let refunds = books["refunds"].as_array().unwrap().iter();
        let refunds = refunds
            .filter(|refund| {
                intents
                    .iter()
                    .any(|intent| intent["id"] == refund["intent"])
            })
            .cloned()
            .collect();
        Account {
            charges: of("charges"),
            intents,
            refunds,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) intents: Vec<Value>,
    pub(crate) charges: Vec<Value>,
    pub(crate) refunds: Vec<Value>,
}

impl Account {
    /// One charge, under its own key, and nothing given back.
    pub(crate) fn assert_charged_once(&self, payment: Uuid) {
        assert_eq!(self.charges.len(), 1, "{self:?}");
        assert_eq!(self.intents.len(), 1, "{self:?}");
        let key = self.charges[0]["idempotency_key"].as_str().unwrap();
        assert_eq!(key, format!("charge:{payment}"));
    }

    /// One charge and one refund that succeeded, under `key`.
    pub(crate) fn assert_refunded_once(&self, payment: Uuid, key: &str) {
        self.assert_charged_once(payment);
        let succeeded: Vec<_> = self
            .refunds
            .iter()
            .filter(|refund| refund["status"] == "succeeded")
            .collect();
        assert_eq!(succeeded.len(), 1, "{self:?}");
        assert_eq!(succeeded[0]["idempotency_key"], *key);
        assert!(succeeded[0]["refund_id"].is_string());
    }

    pub(crate) fn assert_untouched(&self) {
        assert!(self.charges.is_empty(), "{self:?}");
        assert!(self.refunds.is_empty(), "{self:?}");
    }
}
