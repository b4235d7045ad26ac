use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;

/// Below the range from which kernels choose ports for outgoing connections, so that nobody's
/// connection takes a port between our look and its use.
const FIRST: u16 = 20_000;
const COUNT: u16 = 10_000;
const TRIES_MAX: u32 = 1_000;

/// Each port is handed out once per process.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A TCP port on 127.0.0.1 that nobody listens on.
///
/// Only for programs that must be told their port; our own bind port 0 and say what they got.
pub fn free_port() -> u16 {
    for _ in 0..TRIES_MAX {
        // Random, so that test processes running side by side do not try the same ones in order.
        let random = RandomState::new().build_hasher().finish() % u64::from(COUNT);
        let port = FIRST + u16::try_from(random).unwrap_or_default();
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
            && GIVEN.lock().unwrap().insert(port)
        {
            return port;
        }
    }
    panic!("no free port in {FIRST}..{}", FIRST + COUNT);
}
