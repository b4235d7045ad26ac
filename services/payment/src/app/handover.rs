//! From the handler to the worker of the same process: the fast path. Losing what is in here is
//! harmless, for the row says the same and its lease ends.

use std::sync::Arc;

use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use crate::store::payments::Record;

/// Payments that may wait for the worker; more than that wait in the table.
const QUEUE_MAX: usize = 1_024;

/// A payment on its way from one to the other.
#[derive(Debug)]
pub(super) struct Handed {
    pub(super) record: Record,
    /// When its lease began.
    pub(super) since: Instant,
}

/// The handlers' end. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Handover {
    queue: mpsc::Sender<Handed>,
    look: Arc<Notify>,
}

/// The worker's end.
#[derive(Debug)]
pub struct Intake {
    pub(super) queue: mpsc::Receiver<Handed>,
    pub(super) look: Arc<Notify>,
}

/// Both ends.
pub fn handover() -> (Handover, Intake) {
    let (sender, receiver) = mpsc::channel(QUEUE_MAX);
    let look = Arc::new(Notify::new());
    let handover = Handover {
        queue: sender,
        look: Arc::clone(&look),
    };
    let intake = Intake {
        queue: receiver,
        look,
    };
    (handover, intake)
}

impl Handover {
    /// After the commit: this payment is leased to this process, go on with it.
    pub(super) fn hand_over(&self, record: Record) {
        let since = Instant::now();
        if self.queue.try_send(Handed { record, since }).is_err() {
            tracing::debug!("the worker is busy; it finds the payment when the lease is over");
        }
    }

    /// After the commit: some payment is due now.
    pub(super) fn look(&self) {
        self.look.notify_one();
    }
}
