//! Metrics: defined in [`definitions`], recorded anywhere, rendered by [`render`].

pub mod definitions;
mod instrument;
mod registry;

pub use instrument::{Counter, Gauge, Histogram};
pub use registry::{registry, render};
pub(crate) use registry::install;
