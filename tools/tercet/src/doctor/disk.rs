//! Room on the disks.

use std::path::Path;

use nix::sys::statvfs::statvfs;

use super::{Check, Setup, Way};

/// A debug build and its tests take some GiB; a database that is full stops in the middle of its work.
const WARN_TIMES: u64 = 5;

pub(super) fn checks(setup: &Setup) -> Vec<Check> {
    let folders = setup.folders.iter();
    folders
        .map(|folder| {
            check(
                setup.ways.first().copied().unwrap_or(Way::Demo),
                folder,
                setup.disk_min_mib,
            )
        })
        .collect()
}

fn check(way: Way, folder: &Path, min_mib: u64) -> Check {
    let name = format!("disk of {}", folder.display());
    let stat = match statvfs(folder) {
        Ok(stat) => stat,
        Err(error) => {
            let found = format!("cannot be looked at: {error}");
            return Check::problem(way, name, found, "name a folder that exists (--folder)");
        }
    };
    let mib = |blocks: u64| blocks.saturating_mul(stat.fragment_size()) / (1024 * 1024);
    // For whoever asks: what is kept for root does not count.
    let (free, all) = (mib(stat.blocks_available()), mib(stat.blocks()));
    let found = format!("{free} MiB of {all} MiB are free");
    let remedy = format!("make room: less than {min_mib} MiB is too little (--disk-min-mib)");
    if free < min_mib {
        Check::problem(way, name, found, remedy)
    } else if free < min_mib.saturating_mul(WARN_TIMES) {
        Check::warning(way, name, found, remedy)
    } else {
        Check::ok(way, name, found)
    }
}
