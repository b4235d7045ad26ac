use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, bail};
use tokio::process::Command;

use super::programs;

const VERSION: &str = "4.3.1";
/// The one that is asked for; the others come with it.
const JAR: &str = "kafka_2.13-4.3.1.jar";
/// What to fetch: a broker and its tools.
const POM: &str = include_str!("../../kafka-pom.xml");

/// The folder of Kafka's jars, in Tercet's cache.
pub(super) fn folder() -> anyhow::Result<PathBuf> {
    Ok(programs::cache()?.join(format!("kafka-{VERSION}/libs")))
}

pub(super) fn are_there(libs: &Path) -> bool {
    libs.join(JAR).is_file()
}

/// Fetches the jars by Maven: 44 MB, once per machine.
///
/// Into another folder, renamed last, so that jars which are there are all there, whoever was
/// stopped half way or fetched at the same time.
pub(super) async fn fetch(libs: &Path) -> anyhow::Result<()> {
    let home = libs.parent().context("the cache has no folder")?;
    std::fs::create_dir_all(home).with_context(|| format!("cannot make {}", home.display()))?;
    let fetched = tempfile::Builder::new()
        .prefix("fetching-")
        .tempdir_in(home)?;
    std::fs::write(fetched.path().join("pom.xml"), POM)?;

    let output = Command::new(programs::maven()?)
        .args(["-q", "-B", "dependency:copy-dependencies"])
        .args(["-DincludeScope=runtime", "-DoutputDirectory=libs"])
        .current_dir(fetched.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .context("cannot start Maven")?;
    let complete = fetched.path().join("libs");
    if !output.status.success() || !are_there(&complete) {
        let said = String::from_utf8_lossy(&output.stdout);
        bail!(
            "Maven could not fetch Kafka's jars ({}):\n{said}",
            output.status
        );
    }
    if are_there(libs) {
        return Ok(()); // somebody was faster
    }
    if libs.exists() {
        std::fs::remove_dir_all(libs)?;
    }
    std::fs::rename(&complete, libs).context("cannot keep Kafka's jars")
}
