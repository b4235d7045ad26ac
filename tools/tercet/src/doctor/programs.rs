//! Programs that must be on this machine, and how new they must be.

use std::{path::Path, time::Duration};

use tercet_testbed::local::{self, LocalKafka};
use tokio::{process::Command, time::timeout};

use super::{Check, Way, versions};

/// Most say their version in milliseconds; Java takes a moment, and a dead Docker socket longer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(4);

const POSTGRES_MIN: u32 = 15;
const JAVA_MIN: u32 = 17;
/// The oldest Compose with `start_interval`.
const COMPOSE_MIN: (u32, u32) = (2, 20);

/// What `make demo` needs, beside room on the disk.
pub(super) async fn demo() -> Vec<Check> {
    vec![rust().await, compiler().await, postgres().await]
}

/// What a real Kafka needs.
pub(super) async fn tests() -> Vec<Check> {
    vec![java().await, kafka_jars()]
}

/// What Docker Compose needs.
pub(super) async fn compose() -> Vec<Check> {
    let engine = engine().await;
    let has_client = engine.found != NO_DOCKER;
    let mut checks = vec![engine];
    if has_client {
        checks.push(compose_plugin().await);
    }
    checks
}

async fn rust() -> Check {
    let (way, name) = (Way::Demo, "Rust");
    // Read from the workspace, which a toolchain file repeats for rustup.
    let wanted = versions::first(env!("CARGO_PKG_RUST_VERSION"));
    match say("rustc", &["--version"]).await {
        Err(why) => Check::problem(way, name, why, "install it from https://rustup.rs"),
        Ok(said) if versions::first(&said) < wanted => Check::problem(
            way,
            name,
            said,
            format!(
                "{} or newer is needed: rustup update",
                env!("CARGO_PKG_RUST_VERSION")
            ),
        ),
        Ok(said) => Check::ok(way, name, said),
    }
}

async fn compiler() -> Check {
    let (way, name) = (Way::Demo, "C compiler");
    match say("cc", &["--version"]).await {
        Ok(said) => Check::ok(way, name, said),
        Err(why) => Check::problem(
            way,
            name,
            why,
            "librdkafka is built from source: install gcc or clang, and make",
        ),
    }
}

async fn postgres() -> Check {
    let (way, name) = (Way::Demo, "PostgreSQL's server");
    let folder = match local::postgres_bin() {
        Ok(folder) => folder,
        Err(why) => return Check::problem(way, name, "not usable", why.to_string()),
    };
    match say_path(&folder.join("postgres"), &["--version"]).await {
        Err(why) => Check::problem(way, name, why, "install PostgreSQL 15 or newer"),
        Ok(said) if versions::first(&said).is_none_or(|(major, _)| major < POSTGRES_MIN) => {
            Check::problem(
                way,
                name,
                said,
                "install PostgreSQL 15 or newer, or set TERCET_POSTGRES_BIN to its folder",
            )
        }
        Ok(said) => Check::ok(way, name, said),
    }
}

async fn java() -> Check {
    let (way, name) = (Way::Tests, "Java");
    let java = match local::java() {
        Ok(java) => java,
        Err(why) => return Check::problem(way, name, "not found", why.to_string()),
    };
    match say_path(&java, &["-version"]).await {
        Ok(said) if versions::first(&said).is_some_and(|(major, _)| major >= JAVA_MIN) => {
            Check::ok(way, name, said)
        }
        Ok(said) => Check::problem(way, name, said, "Kafka needs Java 17 or newer"),
        Err(why) => Check::problem(way, name, why, "install Java 17 or newer"),
    }
}

fn kafka_jars() -> Check {
    let (way, name) = (Way::Tests, "Kafka's jars");
    if LocalKafka::is_fetched() {
        return Check::ok(way, name, "fetched");
    }
    match local::maven() {
        Ok(_) => Check::ok(
            way,
            name,
            "not fetched yet; Maven is there and does it once, 44 MB",
        ),
        Err(why) => Check::problem(way, name, "not fetched", why.to_string()),
    }
}

const NO_DOCKER: &str = "docker is not on the PATH";

async fn engine() -> Check {
    let (way, name) = (Way::Compose, "Docker");
    match say("docker", &["version", "--format", "{{.Server.Version}}"]).await {
        Ok(said) => Check::ok(way, name, format!("engine {said}")),
        Err(why) if why == NO_DOCKER => Check::problem(
            way,
            name,
            why,
            "install Docker Engine with Compose 2.20 or newer; make demo works without",
        ),
        Err(why) => Check::problem(
            way,
            name,
            format!("the engine does not answer: {why}"),
            "start it (systemctl start docker, or Docker Desktop), or mend who may use its socket",
        ),
    }
}

async fn compose_plugin() -> Check {
    let (way, name) = (Way::Compose, "Docker Compose");
    let remedy = "2.20 or newer is needed: install the docker-compose-plugin";
    match say("docker", &["compose", "version", "--short"]).await {
        Ok(said) if versions::first(&said).is_some_and(|version| version >= COMPOSE_MIN) => {
            Check::ok(way, name, said)
        }
        Ok(said) => Check::problem(way, name, format!("{said} is too old"), remedy),
        // Docker without it takes the question for its own.
        Err(why) => Check::problem(
            way,
            name,
            format!("not installed (docker says: {why})"),
            remedy,
        ),
    }
}

async fn say(program: &str, arguments: &[&str]) -> Result<String, String> {
    say_path(Path::new(program), arguments).await
}

/// The first line that a program says of itself, wherever it says it.
async fn say_path(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let asked = Command::new(program)
        .args(arguments)
        // A toolchain that is missing is to be told, not fetched.
        .env("RUSTUP_AUTO_INSTALL", "0")
        .kill_on_drop(true)
        .output();
    let name = program.display();
    let output = match timeout(ANSWERS_WITHIN, asked).await {
        Err(_) => return Err(format!("{name} does not answer within {ANSWERS_WITHIN:?}")),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(format!("{name} is not on the PATH"));
        }
        Ok(Err(error)) => return Err(format!("{name}: {error}")),
        Ok(Ok(output)) => output,
    };
    let (said, complained) = (first_line(&output.stdout), first_line(&output.stderr));
    match (output.status.success(), said, complained) {
        (true, Some(said), _) | (true, None, Some(said)) => Ok(said),
        (true, None, None) => Err(format!("{name} says nothing")),
        (false, _, Some(why)) | (false, Some(why), None) => Err(why),
        (false, None, None) => Err(format!("{name} failed ({})", output.status)),
    }
}

fn first_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map(str::to_owned)
}
