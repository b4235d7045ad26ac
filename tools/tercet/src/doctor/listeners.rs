//! Who listens on a port of this machine. Linux tells; elsewhere it stays unknown.

use std::{fs, path::Path};

/// The process that listens, as far as it can be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) pid: u32,
    /// The program's name.
    pub(super) name: String,
}

/// Who listens on `port`.
pub(super) fn on(port: u16) -> Option<Listener> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
    let sockets: Vec<u64> = tables
        .iter()
        .flatten()
        .flat_map(|table| listening(table, port))
        .collect();
    let links: Vec<String> = sockets.iter().map(|id| format!("socket:[{id}]")).collect();
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        has(&entry.path().join("fd"), &links).then(|| Listener {
            pid,
            name: fs::read_to_string(entry.path().join("comm"))
                .map(|name| name.trim().to_owned())
                .unwrap_or_default(),
        })
    })
}

/// The sockets that listen on `port`, by their ids. Line: `sl local_address rem_address st … inode`.
fn listening(table: &str, port: u16) -> Vec<u64> {
    const LISTEN: &str = "0A";
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (_, hex) = words.get(1)?.rsplit_once(':')?;
        let is_it = u16::from_str_radix(hex, 16).ok()? == port && *words.get(3)? == LISTEN;
        is_it.then(|| words.get(9)?.parse().ok()).flatten()
    };
    table.lines().filter_map(of_line).collect()
}

/// Other users' processes cannot be looked into, unless we are root.
fn has(descriptors: &Path, links: &[String]) -> bool {
    let Ok(entries) = fs::read_dir(descriptors) else {
        return false;
    };
    let targets = entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok());
    targets
        .filter_map(|target| target.into_os_string().into_string().ok())
        .any(|target| links.contains(&target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_told_from_others() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:C383 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0 100 0 0 10 0\n   \
             1: 0100007F:C383 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 4243 1 0 20 4 30 10 -1\n";
        assert_eq!(listening(table, 50_051), [4242]);
        assert_eq!(listening(table, 50_052), [0; 0]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_listener_of_our_own_is_found() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        assert_eq!(on(port).unwrap().pid, std::process::id());
        drop(socket);
        assert_eq!(on(port), None);
    }
}
