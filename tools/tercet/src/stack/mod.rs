//! The whole system as real processes: databases, topics, the card processor and the three services.
//!
//! The demo draws orders with it, the end-to-end tests break it. Everything lives under one run
//! directory (a log for each process, the processor's books) and one unique name (databases, topics),
//! so that several stacks share a PostgreSQL server and a Kafka broker without knowing of each other.

mod binaries;
mod databases;
mod environment;
mod options;
mod ports;
mod running;

pub use databases::{Database, Databases};
pub use options::{Broker, Part, StackOptions, Timings};
pub use running::{Stack, Stage};
