//! Calls of one key in one process: one works, the others wait for its answer without a connection.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{Claim, Key, RequestHash};

/// Lets one call per (tenant, method, key) work at a time in this process.
///
/// This saves connections when a caller sends one key many times at once; it promises nothing.
/// Across processes, and after a failure, only the key's row decides.
pub struct SingleFlight<T> {
    flights: Arc<Mutex<HashMap<FlightKey, Arc<Slot<T>>>>>,
}

/// How a call went.
#[derive(Debug)]
pub enum Flight<T, E> {
    /// This call did the work.
    Led(Result<T, E>),
    /// Another call did it while this one waited, and this is its answer.
    Followed(T),
    /// Another call is at work under the same key with another request.
    Mismatch,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct FlightKey {
    tenant: String,
    method: String,
    key: Key,
}

struct Slot<T> {
    fingerprint: RequestHash,
    /// Whoever holds this leads. It holds the answer once a leader had one.
    answer: tokio::sync::Mutex<Option<T>>,
}

impl<T: Clone> SingleFlight<T> {
    /// Nobody is at work.
    pub fn new() -> Self {
        Self {
            flights: Arc::default(),
        }
    }

    /// Does `work` unless another call of the same claim is at it, whose answer is then shared. If
    /// that one fails, or is dropped, *one* of those who wait leads with its own `work`.
    pub async fn run<E, F, Fut>(&self, claim: &Claim, work: F) -> Flight<T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let Some(seat) = self.board(claim) else {
            return Flight::Mismatch;
        };
        // First come, first served: the lock is fair, so after a failure the longest waiting leads.
        let mut answer = seat.slot.answer.lock().await;
        if let Some(answer) = answer.as_ref() {
            return Flight::Followed(answer.clone());
        }
        let result = work().await;
        if let Ok(done) = &result {
            *answer = Some(done.clone());
        }
        Flight::Led(result)
    }

    /// `None` if the flight under way is for another request.
    fn board(&self, claim: &Claim) -> Option<Seat<T>> {
        let key = FlightKey {
            tenant: claim.tenant.clone(),
            method: claim.method.clone(),
            key: claim.key.clone(),
        };
        let mut flights = lock(&self.flights);
        let slot = flights.entry(key.clone()).or_insert_with(|| {
            Arc::new(Slot {
                fingerprint: claim.fingerprint,
                answer: tokio::sync::Mutex::new(None),
            })
        });
        (slot.fingerprint == claim.fingerprint).then(|| Seat {
            slot: Arc::clone(slot),
            key,
            flights: Arc::clone(&self.flights),
        })
    }
}

/// A call's place in a flight; the last to leave takes the flight off the list, also when it is
/// dropped half way.
struct Seat<T> {
    slot: Arc<Slot<T>>,
    key: FlightKey,
    flights: Arc<Mutex<HashMap<FlightKey, Arc<Slot<T>>>>>,
}

impl<T> Drop for Seat<T> {
    fn drop(&mut self) {
        let mut flights = lock(&self.flights);
        // Ours and the list's: nobody else is aboard, and nobody can board while we hold the list.
        if Arc::strong_count(&self.slot) == 2 {
            flights.remove(&self.key);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Clone> Default for SingleFlight<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for SingleFlight<T> {
    fn clone(&self) -> Self {
        Self {
            flights: Arc::clone(&self.flights),
        }
    }
}

impl<T> fmt::Debug for SingleFlight<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFlight")
            .field("under_way", &lock(&self.flights).len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::{FutureExt, future::join_all, poll};
    use tokio::sync::Notify;

    use super::*;
    use crate::Fingerprint;

    fn claim(key: &str, request: &str) -> Claim {
        Claim {
            tenant: "default".into(),
            method: "PlaceOrder".into(),
            key: Key::parse(key).unwrap(),
            fingerprint: Fingerprint::new().field("request", request).finish(),
        }
    }

    #[tokio::test]
    async fn fifty_calls_at_once_work_once_and_answer_alike() {
        let (flights, works) = (SingleFlight::<u32>::new(), AtomicUsize::new(0));
        let claim = claim("k", "a");
        let calls = (0..50).map(|_| {
            flights.run(&claim, async || {
                works.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Ok::<_, ()>(7)
            })
        });
        for flight in join_all(calls).await {
            assert!(matches!(flight, Flight::Led(Ok(7)) | Flight::Followed(7)));
        }
        assert_eq!(works.load(Ordering::Relaxed), 1);
        assert!(lock(&flights.flights).is_empty());
    }

    #[tokio::test]
    async fn another_request_under_the_key_is_told_while_the_first_is_at_work() {
        let (flights, gate) = (SingleFlight::<u32>::new(), Notify::new());
        let first = claim("k", "a");
        let mut leader = Box::pin(flights.run(&first, async || {
            gate.notified().await;
            Ok::<_, ()>(1)
        }));
        assert!(poll!(&mut leader).is_pending());
        let other = claim("k", "b");
        let told = flights.run(&other, async || Ok::<_, ()>(2)).now_or_never();
        assert!(matches!(told, Some(Flight::Mismatch)));
        gate.notify_one();
        assert!(matches!(leader.await, Flight::Led(Ok(1))));
        assert!(matches!(
            flights.run(&other, async || Ok::<_, ()>(2)).await,
            Flight::Led(Ok(2))
        ));
    }

    #[tokio::test]
    async fn if_the_leader_fails_one_follower_leads() {
        let (flights, gate) = (SingleFlight::<u32>::new(), Notify::new());
        let claim = claim("k", "a");
        let leader = flights.run(&claim, async || {
            gate.notified().await;
            Err("no connection")
        });
        let followers = (2..=4).map(|n| flights.run(&claim, async move || Ok::<_, &str>(n)));
        let (failed, answers, ()) =
            tokio::join!(leader, join_all(followers), async { gate.notify_one() });
        assert!(matches!(failed, Flight::Led(Err("no connection"))));
        assert!(matches!(
            answers.as_slice(),
            [Flight::Led(Ok(2)), Flight::Followed(2), Flight::Followed(2)]
        ));
    }

    #[tokio::test]
    async fn if_the_leader_is_dropped_one_follower_leads() {
        let flights = SingleFlight::<u32>::new();
        let claim = claim("k", "a");
        let mut leader = Box::pin(flights.run(&claim, async || {
            std::future::pending::<Result<u32, ()>>().await
        }));
        assert!(poll!(&mut leader).is_pending());
        let mut follower = Box::pin(flights.run(&claim, async || Ok::<_, ()>(2)));
        assert!(poll!(&mut follower).is_pending());
        drop(leader);
        assert!(matches!(follower.await, Flight::Led(Ok(2))));
        assert!(lock(&flights.flights).is_empty());
    }
}
