//! A simulator in this process and a client of it.

use std::{net::SocketAddr, path::Path, time::Duration};

use reqwest::{Method, StatusCode};
use serde_json::Value;
use tercet_gateway_sim::{Settings, build};
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How long a client of these tests waits for an answer that may never come.
pub(crate) const PATIENCE: Duration = Duration::from_millis(300);

pub(crate) struct Sim {
    pub(crate) addr: SocketAddr,
    client: reqwest::Client,
    tasks: JoinSet<std::io::Result<()>>,
    shutdown: DropGuard,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) replayed: bool,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn text(&self, path: &str) -> &str {
        self.body
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

impl Sim {
    pub(crate) async fn start(folder: &Path) -> Self {
        let settings = Settings {
            addr: "127.0.0.1:0".parse().unwrap(),
            data_dir: folder.to_owned(),
            key_ttl_seconds: 86_400,
            slow_ms: 50,
            late_ms: 700,
            pending_ms: 200,
            hang_ms: 5_000,
        };
        let application = build(settings).await.unwrap();
        let addr = application.addr();
        let shutdown = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(application.run(shutdown.clone()));
        let client = reqwest::Client::builder()
            .timeout(PATIENCE)
            .build()
            .unwrap();
        Self {
            addr,
            client,
            tasks,
            shutdown: shutdown.drop_guard(),
        }
    }

    /// Ends this one and starts another on the same books.
    pub(crate) async fn restart(self, folder: &Path) -> Self {
        let Self {
            mut tasks,
            shutdown,
            client,
            ..
        } = self;
        drop((client, shutdown));
        tasks.join_next().await.unwrap().unwrap().unwrap();
        Self::start(folder).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, None, &[]).await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, key: &str, form: &[(&str, &str)]) -> Answer {
        self.ask(Method::POST, path, Some(key), form).await.unwrap()
    }

    /// A POST that is known to get no answer in time.
    pub(crate) async fn post_in_vain(&self, path: &str, key: &str, form: &[(&str, &str)]) {
        let error = self
            .ask(Method::POST, path, Some(key), form)
            .await
            .err()
            .unwrap();
        assert!(error.is_timeout(), "{error:?}");
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        form: &[(&str, &str)],
    ) -> reqwest::Result<Answer> {
        let url = format!("http://{}{path}", self.addr);
        let mut request = self
            .client
            .request(method.clone(), url)
            .bearer_auth("sk_test_1");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if method == Method::POST {
            request = request.form(form);
        }
        let response = request.send().await?;
        Ok(Answer {
            status: response.status(),
            replayed: response.headers().contains_key("idempotent-replayed"),
            body: response.json().await?,
        })
    }

    /// Creates an unconfirmed intent of 1,000 and tells its id.
    pub(crate) async fn intent(&self, payment: &str, card: &str) -> String {
        let key = format!("create:{payment}");
        let form = [
            ("amount", "1000"),
            ("currency", "eur"),
            ("payment_method", card),
            ("metadata[payment_id]", payment),
        ];
        let created = self.post("/v1/payment_intents", &key, &form).await;
        assert_eq!(
            created.text("/status"),
            "requires_confirmation",
            "{}",
            created.body
        );
        created.text("/id").to_owned()
    }

    /// An intent that was captured.
    pub(crate) async fn charged(&self, payment: &str, card: &str) -> String {
        let id = self.intent(payment, card).await;
        let confirmed = self
            .post(&confirm(&id), &format!("charge:{payment}"), &[])
            .await;
        assert_eq!(confirmed.text("/status"), "succeeded", "{}", confirmed.body);
        id
    }

    pub(crate) async fn captures(&self) -> u64 {
        self.get("/sim/books").await.body["captures"]
            .as_u64()
            .unwrap()
    }
}

pub(crate) fn confirm(id: &str) -> String {
    format!("/v1/payment_intents/{id}/confirm")
}

pub(crate) fn cancel(id: &str) -> String {
    format!("/v1/payment_intents/{id}/cancel")
}
