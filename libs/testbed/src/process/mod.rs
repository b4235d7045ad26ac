//! A program of ours as a real process: its own log file, a ready probe, kill -9, restart.

pub(crate) mod log;
mod ready;
mod running;

pub use ready::Ready;
pub use running::{Process, ProcessOptions};
