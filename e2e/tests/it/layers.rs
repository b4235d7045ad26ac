//! Who may use whom: the rule that keeps an order's way through the code one direction.
//!
//! It reads sources and manifests, no types: a path that begins at `crate` names the module it goes
//! to, and a dependency's name before `::` is a use of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const SERVICES: [&str; 3] = ["order", "payment", "inventory"];

/// What rules are made of: no IO, no clock, nothing of a transport. JSON values are what a saga's
/// failure carries along.
const PURE: [&str; 7] = [
    "iso_currency",
    "serde",
    "serde_json",
    "tercet_saga",
    "thiserror",
    "time",
    "uuid",
];

/// A service's module, and which others it may use. Whoever is not listed is the composition root
/// (`main`, `lib`, `settings`, `startup`) and may use all; nobody else may use that, nor `grpc`.
const LAYERS: [(&str, &[&str]); 7] = [
    // A saga's words name its steps; the rules of a stage are told in them.
    ("domain", &["saga"]),
    ("store", &["domain", "messaging"]),
    // `gateway`: the port, whose HTTP adapter is only known to the composition root.
    ("app", &["domain", "gateway", "messaging", "saga", "store"]),
    ("saga", &["app", "domain", "messaging", "store"]),
    ("messaging", &["app", "domain", "saga"]),
    ("gateway", &["app", "domain"]),
    // `store`: its errors and keys are part of what `app` answers. It runs no statement; see below.
    ("grpc", &["app", "domain", "saga", "store"]),
];

/// The definitions of sagas: as pure as the domain.
const DEFINITIONS: [&str; 2] = ["saga/place_order", "saga/cancel_order"];

#[test]
fn a_service_s_layers_use_only_what_they_may() {
    let mut wrong = Vec::new();
    for file in SERVICES.iter().flat_map(|service| sources_of(service)) {
        let Some((layer, allowed)) = LAYERS.iter().find(|(layer, _)| file.is_in(layer)) else {
            continue;
        };
        let allowed: &[&str] = if file.is_definition() {
            &["domain", "saga"]
        } else {
            allowed
        };
        for used in file.modules_used() {
            if used != *layer && !allowed.contains(&used.as_str()) {
                wrong.push(format!("{}: {layer} must not use {used}", file.shown()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rules_are_pure() {
    let mut wrong = Vec::new();
    for service in SERVICES {
        let dependencies = dependencies(&root().join("services").join(service));
        assert!(dependencies.contains(&"sqlx".to_owned()), "{service}");
        for file in sources_of(service) {
            if !file.is_in("domain") && !file.is_definition() {
                continue;
            }
            let impure = |it: &&String| !PURE.contains(&it.as_str()) && file.uses(it);
            for dependency in dependencies.iter().filter(impure) {
                wrong.push(format!("{}: uses {dependency}", file.shown()));
            }
            for io in ["std::env", "std::fs", "std::net", "now_utc(", "SystemTime"] {
                if file.text.contains(io) {
                    wrong.push(format!("{}: uses {io}", file.shown()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_stores_the_use_cases_and_the_sagas_speak_sql() {
    let mut wrong = Vec::new();
    for file in SERVICES.iter().flat_map(|service| sources_of(service)) {
        let may = ["store", "app", "saga", "startup.rs", "lib.rs"];
        if !may.iter().any(|it| file.is_in(it)) && file.text.contains("sqlx::query") {
            wrong.push(file.shown());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn libraries_know_nothing_of_orders() {
    let strangers = |name: &String| {
        let services = SERVICES.map(|service| format!("tercet_{service}"));
        name == "tercet_contracts" || name == "tercet_cli" || services.contains(name)
    };
    for library in folders_in(&root().join("libs")) {
        let known: Vec<_> = dependencies(&library)
            .into_iter()
            .filter(strangers)
            .collect();
        assert!(
            known.is_empty(),
            "{} depends on {known:?}",
            library.display()
        );
    }
}

#[test]
fn no_service_depends_on_another() {
    for service in SERVICES {
        let dependencies = dependencies(&root().join("services").join(service));
        for other in SERVICES {
            let other = format!("tercet_{other}");
            assert!(
                !dependencies.contains(&other),
                "{service} depends on {other}"
            );
        }
    }
}

#[test]
fn the_rules_can_be_broken() {
    let file = Source {
        service: "order".into(),
        path: "domain/money.rs".into(),
        text: without_comments_and_tests(
            "use crate::{\n    app::{App, Error},\n    store,\n};\n// crate::grpc\n\
             fn f() { crate::messaging::events(); my_sqlx::no(); sqlx::query(); }\n\
             #[cfg(test)]\nmod tests { use tokio::test; }",
        ),
    };
    let used: Vec<_> = file.modules_used().into_iter().collect();
    assert_eq!(used, ["app", "messaging", "store"]);
    assert!(file.uses("sqlx") && !file.uses("tokio") && !file.uses("query"));
}

struct Source {
    service: String,
    /// Below `src`.
    path: PathBuf,
    text: String,
}

impl Source {
    fn is_in(&self, layer: &str) -> bool {
        self.path.starts_with(layer) || self.path == Path::new(&format!("{layer}.rs"))
    }

    fn is_definition(&self) -> bool {
        let stem = self.path.with_extension("");
        DEFINITIONS.iter().any(|it| stem.starts_with(it))
    }

    fn shown(&self) -> String {
        format!("services/{}/src/{}", self.service, self.path.display())
    }

    /// The first words after each `crate::`, also in braces.
    fn modules_used(&self) -> BTreeSet<String> {
        let paths = self.text.split("crate::").skip(1);
        paths
            .flat_map(first_words)
            .filter(|it| !it.is_empty())
            .collect()
    }

    fn uses(&self, dependency: &str) -> bool {
        let path = format!("{dependency}::");
        self.text.match_indices(&path).any(|(at, _)| {
            let before = self.text[..at].chars().next_back();
            !before.is_some_and(|it| it.is_alphanumeric() || it == '_' || it == ':')
        })
    }
}

fn first_words(path: &str) -> Vec<String> {
    let word = |text: &str| {
        let end = |it: char| !it.is_alphanumeric() && it != '_';
        text.trim_start()
            .split(end)
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let Some(inside) = path.strip_prefix('{') else {
        return vec![word(path)];
    };
    let mut words = vec![word(inside)];
    let mut depth = 1;
    for (at, character) in inside.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => words.push(word(&inside[at + 1..])),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    words
}

fn sources_of(service: &str) -> Vec<Source> {
    let src = root().join("services").join(service).join("src");
    let mut found = Vec::new();
    let mut folders = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        folders.extend(folders_in(&folder));
        for file in entries(&folder).into_iter().filter(|it| it.is_file()) {
            // Tests beside the code may use what they need to ask it.
            if file.file_name().is_some_and(|name| name != "tests.rs") {
                let text = fs::read_to_string(&file).unwrap();
                found.push(Source {
                    service: service.to_owned(),
                    path: file.strip_prefix(&src).unwrap().to_owned(),
                    text: without_comments_and_tests(&text),
                });
            }
        }
    }
    assert!(found.len() > 5, "no sources in {}", src.display());
    found
}

/// By the order of every file here, its tests come last.
fn without_comments_and_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().filter(|it| !it.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// By the names they have in code; also those for tests and builds.
fn dependencies(package: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    let mut in_dependencies = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            in_dependencies = line.ends_with("dependencies]");
        } else if in_dependencies && let Some(name) = line.split(['.', ' ', '=']).next() {
            found.push(name.replace('-', "_"));
        }
    }
    found.retain(|name| !name.is_empty() && !name.starts_with('#'));
    found
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder)
        .into_iter()
        .filter(|it| it.is_dir())
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
