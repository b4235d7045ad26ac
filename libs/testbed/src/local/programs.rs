use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

/// Where PostgreSQL is installed outside of PATH, by distribution: `{folder}/{version}/{rest}`.
const POSTGRES_PLACES: [(&str, &str, &str); 4] = [
    ("/usr/lib/postgresql", "", "bin"),          // Debian
    ("/usr", "pgsql-", "bin"),                   // Red Hat
    ("/opt/homebrew/opt", "postgresql@", "bin"), // macOS on ARM
    ("/usr/local/opt", "postgresql@", "bin"),    // macOS on Intel
];
const POSTGRES_BIN: &str = "TERCET_POSTGRES_BIN";
const NO_POSTGRES: &str = "PostgreSQL's server programs were not found: install PostgreSQL 15 or \
    newer (Debian: postgresql, macOS: brew install postgresql@17), or set TERCET_POSTGRES_BIN to \
    the folder of initdb";
const NO_JAVA: &str = "Java was not found: install a Java runtime, 17 or newer (Debian: \
    openjdk-17-jre-headless)";
const NO_MAVEN: &str = "Maven was not found: it fetches Kafka's jars, once (Debian: maven)";
const NO_JAEGER: &str = "Jaeger was not found, neither on PATH nor in Tercet's cache: \
    tools/setup.sh jaeger builds it there, once, with Go";

/// The folder of `initdb` and `postgres`: as told by `TERCET_POSTGRES_BIN`, else the newest that is
/// installed.
///
/// # Errors
/// There is none; the error says what to install.
pub fn postgres_bin() -> anyhow::Result<PathBuf> {
    if let Some(told) = variable(POSTGRES_BIN) {
        let told = PathBuf::from(told);
        let (is_there, shown) = (told.join("initdb").is_file(), told.display());
        ensure!(
            is_there,
            "{POSTGRES_BIN} is {shown}, but there is no initdb"
        );
        return Ok(told);
    }
    let mut installed: Vec<_> = POSTGRES_PLACES.iter().flat_map(installed_in).collect();
    installed.sort();
    if let Some((_, newest)) = installed.pop() {
        return Ok(newest);
    }
    // Resolved: a link to initdb alone does not stand beside postgres.
    let initdb = on_path("initdb").and_then(|it| it.canonicalize().ok());
    let folder = initdb.and_then(|it| Some(it.parent()?.to_owned()));
    folder.context(NO_POSTGRES)
}

fn installed_in((folder, prefix, rest): &(&str, &str, &str)) -> Vec<(u32, PathBuf)> {
    let Ok(entries) = Path::new(folder).read_dir() else {
        return Vec::new();
    };
    let candidate = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        let version = name.strip_prefix(prefix)?.parse().ok()?;
        let bin = Path::new(folder).join(name).join(rest);
        bin.join("initdb").is_file().then_some((version, bin))
    };
    entries.filter_map(candidate).collect()
}

/// The program `java`: of `JAVA_HOME`, else on the `PATH`.
///
/// # Errors
/// There is none; the error says what to install.
pub fn java() -> anyhow::Result<PathBuf> {
    let home = variable("JAVA_HOME").map(|home| Path::new(&home).join("bin/java"));
    let told = home.filter(|java| java.is_file());
    told.or_else(|| on_path("java")).context(NO_JAVA)
}

/// The program `mvn` on the `PATH`.
///
/// # Errors
/// There is none; the error says what to install.
pub fn maven() -> anyhow::Result<PathBuf> {
    on_path("mvn").context(NO_MAVEN)
}

/// The built one first: a program of that name on PATH may be of another age.
pub(super) fn jaeger() -> anyhow::Result<PathBuf> {
    let built = cache().map(|cache| cache.join("bin/jaeger")).ok();
    let built = built.filter(|program| program.is_file());
    built.or_else(|| on_path("jaeger")).context(NO_JAEGER)
}

/// What is fetched or built once for all checkouts.
pub(super) fn cache() -> anyhow::Result<PathBuf> {
    if let Some(told) = variable("TERCET_CACHE") {
        return Ok(told.into());
    }
    let base = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(variable("HOME")?).join(".cache"));
    let base = base
        .or_else(home)
        .context("neither TERCET_CACHE nor HOME is set")?;
    Ok(base.join("tercet"))
}

fn on_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&variable("PATH")?)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
