//! Metrics: defined in [`definitions`], recorded anywhere, rendered by [`render`].

pub mod definitions;
mod instrument;
mod registry;

pub use instrument::{Counter, Gauge, Histogram};
pub(crate) use registry::install;
pub use registry::{registry, render};
