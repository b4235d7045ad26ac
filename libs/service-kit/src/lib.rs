//! The frame every service stands in.
//!
//! | Part | What it gives |
//! |---|---|
//! | [`settings`] | command line and environment parsed once, *all* errors at once, exit 64 |
//! | [`server`] | a gRPC server with health, reflection, deadlines and limits |
//! | [`client`] | channels that notice dead peers, requests that carry deadline and trace |
//! | [`admin_http`] | `/metrics`, `/healthz`, `/readyz`, and the `healthcheck` command |
//! | [`shutdown`] | supervised tasks and an ordered end with a hard bound |
//! | [`owned`] | work that a dropped request does not cancel |
//! | [`database`] | PostgreSQL: connect, migrate, tell what is transient |
//! | [`page_token`], [`clock`] | small things every service needs the same way |

#![warn(missing_docs)]

pub mod admin_http;
pub mod client;
pub mod clock;
pub mod database;
mod owned;
pub mod page_token;
pub mod server;
pub mod settings;
pub mod shutdown;

pub use owned::{Aborted, owned};
