//! Runs the command.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::Value;
use tercet_testbed::eventually;
use tokio::{process::Command, time::timeout};

use crate::world::{SOON, World, say};

/// Of the whole command.
const BOUND: Duration = Duration::from_secs(1);
const HANGS_AFTER: Duration = Duration::from_secs(30);

/// What it said.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) exit: i32,
    json: Value,
    wall: Duration,
}

impl Answer {
    pub(super) fn cause(&self) -> &str {
        self.json["cause"].as_str().unwrap()
    }

    pub(super) fn kind(&self) -> &str {
        self.json["kind"].as_str().unwrap_or_default()
    }

    pub(super) fn order_id(&self) -> &str {
        self.json["order_id"].as_str().unwrap_or_default()
    }

    /// All its text, to look for words in.
    pub(super) fn text(&self) -> String {
        self.json.to_string()
    }

    pub(super) fn advice(&self) -> Vec<&str> {
        let advice = self.json["advice"].as_array().unwrap();
        advice.iter().map(|line| line.as_str().unwrap()).collect()
    }

    pub(super) fn assert_says(&self, words: &[&str]) {
        for word in words {
            assert!(
                self.text().contains(word),
                "{word:?} is not in {:#}",
                self.json
            );
        }
    }
}

impl World {
    /// Asks why, once.
    pub(super) async fn why(&self, id: &str) -> Answer {
        self.why_with(id, &[]).await
    }

    /// The same, with other places to look at.
    pub(super) async fn why_with(&self, id: &str, places: &[(&str, String)]) -> Answer {
        let began = Instant::now();
        let asked = self.command(id, places).arg("--json").output();
        let output = timeout(HANGS_AFTER, asked).await;
        let output = output.expect("it hangs").unwrap();
        let (exit, wall) = (output.status.code().unwrap(), began.elapsed());
        let said = String::from_utf8_lossy(&output.stderr);
        let json: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("why {id}: {error}: {said}"));
        let (took, within) = (&json["took_ms"], &json["within_ms"]);
        // The promise is kept by the command's own deadline; a clock here would measure the machine.
        let within = Duration::from_millis(within.as_u64().unwrap());
        assert!(within < BOUND, "{within:?}");
        // Far more than the deadline: something was waited for without one.
        assert!(took.as_u64().unwrap() < 5_000, "{took} ms");
        Answer { exit, json, wall }
    }

    /// Asks until it says so.
    pub(super) async fn why_becomes(&self, id: &str, cause: &str) -> Answer {
        self.why_becomes_with(id, cause, &[]).await
    }

    /// The same, with other places to look at.
    pub(super) async fn why_becomes_with(
        &self,
        id: &str,
        cause: &str,
        places: &[(&str, String)],
    ) -> Answer {
        let what = format!("why {id} is {cause}");
        let answer = eventually(&what, SOON, async || {
            let answer = self.why_with(id, places).await;
            (answer.cause() == cause).then_some(answer)
        })
        .await;
        say(&format!(
            "why: {cause}: read in {} ms, the process took {} ms",
            answer.json["took_ms"],
            answer.wall.as_millis()
        ));
        self.show(id, places).await;
        answer
    }

    /// What a person sees, straight to the terminal.
    async fn show(&self, id: &str, places: &[(&str, String)]) {
        let output = self.command(id, places).output().await.unwrap();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            say(&format!("| {line}"));
        }
    }

    fn command(&self, id: &str, places: &[(&str, String)]) -> Command {
        let mut command = Command::new(program());
        command.args(["why", id]).envs(self.stack.places());
        command.envs(places.iter().map(|(name, value)| (name, value)));
        command.env_remove("TERCET_OUTPUT");
        command
    }
}

/// Beside the services: tests run one folder below them.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(|deps| deps.parent()).unwrap();
    folder.join("tercet")
}
