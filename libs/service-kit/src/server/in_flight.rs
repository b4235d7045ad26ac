use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// The calls at work, bounded, and the answers under way, counted.
///
/// Work ends with the head of the answer. A stream that a client watches for minutes must not take
/// a place from those who want something done; but the end of the process waits for it as well.
#[derive(Debug, Clone)]
pub(super) struct InFlight {
    places: Arc<Semaphore>,
    under_way: watch::Sender<usize>,
}

/// A call that takes a place among those at work, until dropped.
#[derive(Debug)]
pub(super) struct Work {
    _place: OwnedSemaphorePermit,
    under_way: UnderWay,
}

/// A call whose last byte has not been sent, until dropped.
#[derive(Debug)]
pub(super) struct UnderWay {
    count: watch::Sender<usize>,
}

impl InFlight {
    pub(super) fn new(max: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(max)),
            under_way: watch::Sender::new(0),
        }
    }

    /// A place for one more call, unless all are taken.
    pub(super) fn enter(&self) -> Option<Work> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        self.under_way.send_modify(|count| *count += 1);
        Some(Work {
            _place: place,
            under_way: UnderWay {
                count: self.under_way.clone(),
            },
        })
    }

    /// Waits until no call is under way.
    pub(super) async fn none_left(&self) {
        // The sender lives in `self`, so the wait cannot fail.
        let mut under_way = self.under_way.subscribe();
        let _ = under_way.wait_for(|count| *count == 0).await;
    }
}

impl Work {
    /// The head of the answer is there: gives the place back.
    pub(super) fn done(self) -> UnderWay {
        self.under_way
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.count
            .send_modify(|count| *count = count.saturating_sub(1));
    }
}
