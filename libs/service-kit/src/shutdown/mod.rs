//! Supervised tasks and an ordered end.
//!
//! ```text
//! SIGTERM ▸ NOT_SERVING ▸ lame duck ▸ stop intake ▸ drain intake and owned work ▸ stop workers ▸ drain workers
//!         └────────────────────────────── hard bound: grace ──────────────────────────────────────────────────┘
//! ```
//!
//! *Intake* is what brings work in: the gRPC server, consumers. *Workers* are what finishes it: the
//! relay, timers, sweepers; they end last, so that the last call's event is still published. Whoever
//! still runs when the bound is over is aborted and named in the error; hyper's own graceful
//! shutdown may never return, so the bound stands outside it.

mod phases;
mod tasks;

pub use phases::Shutdown;
pub use tasks::{Ended, Outcome, Tasks};
