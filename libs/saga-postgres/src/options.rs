//! How an engine works; the defaults fit a deployment.

use std::time::Duration;

/// What an engine can be told. How long sagas wait is in their definition's
/// [`Timing`](tercet_saga::Timing).
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Who this engine is; unique among the processes that share the database.
    pub owner: String,
    /// How often due timers are looked for.
    pub timer_interval: Duration,
    /// How often lost sagas are looked for.
    pub resume_interval: Duration,
    /// How long a timer is overdue before its saga counts as lost.
    pub overdue_after: Duration,
    /// How long a saga that was taken over is left alone by other engines.
    pub lease: Duration,
    /// Rows read at once while looking for due timers and lost sagas.
    pub page: i64,
    /// Commands on their way at once.
    pub sends_max: usize,
    /// How long one send may take: then its place is given to the next, and it counts as one without
    /// an ack. Longer than the deadline of the call inside it.
    pub send_timeout: Duration,
    /// Commands that wait for their turn. One that finds no place is sent by its timer.
    pub queue_max: usize,
}

impl EngineOptions {
    /// The defaults, for the process called `owner`.
    pub fn new(owner: impl Into<String>) -> Self {
        Self {
            owner: owner.into(),
            timer_interval: Duration::from_millis(250),
            resume_interval: Duration::from_mins(1),
            overdue_after: Duration::from_mins(5),
            lease: Duration::from_secs(30),
            page: 200,
            sends_max: 128,
            send_timeout: Duration::from_secs(10),
            queue_max: 10_000,
        }
    }
}
