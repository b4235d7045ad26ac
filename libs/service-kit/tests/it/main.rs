//! The frame as its clients, its supervisor and its database see it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod admin;
mod calls;
mod channel;
mod database;
mod echo;
mod ending;
mod reflection;
mod settings;
