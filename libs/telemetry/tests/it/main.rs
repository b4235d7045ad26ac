//! What a program's telemetry shows to those who read it: each test runs a program of its own, this
//! one again, because telemetry is set up once per process and by environment variables.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod collector;
mod export;
mod logs;
mod program;
