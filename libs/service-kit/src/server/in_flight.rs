use tokio::sync::watch;

/// Counts the calls at work, from their head to the last byte of their answer.
#[derive(Debug, Clone)]
pub(super) struct InFlight {
    count: watch::Sender<usize>,
    max: usize,
}

/// A call at work, until dropped.
#[derive(Debug)]
pub(super) struct Place {
    count: watch::Sender<usize>,
}

impl InFlight {
    pub(super) fn new(max: usize) -> Self {
        Self {
            count: watch::Sender::new(0),
            max,
        }
    }

    /// A place for one more call, unless all are taken.
    pub(super) fn enter(&self) -> Option<Place> {
        let entered = self.count.send_if_modified(|count| {
            let free = *count < self.max;
            *count += usize::from(free);
            free
        });
        entered.then(|| Place {
            count: self.count.clone(),
        })
    }

    /// Waits until no call is at work.
    pub(super) async fn none_left(&self) {
        // The sender lives in `self`, so the wait cannot fail.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.count
            .send_modify(|count| *count = count.saturating_sub(1));
    }
}
