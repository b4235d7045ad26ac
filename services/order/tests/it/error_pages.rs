//! Every reason that a caller can meet has a page, and every page a reason.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use tercet_contracts::command::{STALE_EPOCH, STEP_ALREADY_UNDONE};

/// Where reasons are made, beside the two that commands share.
const SOURCES: [&str; 4] = [
    "services/order/src",
    "services/payment/src",
    "services/inventory/src",
    "libs/service-kit/src/server/mod.rs",
];

#[test]
fn reasons_and_pages_are_the_same_set() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut reasons: BTreeSet<String> =
        [STALE_EPOCH, STEP_ALREADY_UNDONE].map(str::to_owned).into();
    for source in SOURCES {
        for file in rust_files(&root.join(source)) {
            reasons.extend(reasons_in(&fs::read_to_string(file).unwrap()));
        }
    }
    let pages: BTreeSet<String> = fs::read_dir(root.join("docs/errors"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|page| page.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "README")
        .collect();
    let without_page: Vec<_> = reasons.difference(&pages).collect();
    let without_reason: Vec<_> = pages.difference(&reasons).collect();
    assert!(without_page.is_empty(), "no page for {without_page:?}");
    assert!(without_reason.is_empty(), "nobody says {without_reason:?}");
}

fn reasons_in(source: &str) -> Vec<String> {
    let parts = source.split("Reason::new(\"").skip(1);
    parts
        .filter_map(|rest| rest.split_once('"'))
        .map(|(reason, _)| reason.to_owned())
        .collect()
}

fn rust_files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    fs::read_dir(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .flat_map(|entry| rust_files(&entry.unwrap().path()))
        .collect()
}
