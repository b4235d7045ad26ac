//! The testbed against the backends it stands for.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod exec;
mod kafka;
mod local;
mod postgres;
mod process;
