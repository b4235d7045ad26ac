//! PostgreSQL, Kafka and Jaeger from programs found on this machine, for `testbed exec`, for tests and
//! for the demo.
//!
//! Each server is private: a free port on the loopback, a folder of its own that goes with it, and a
//! process group of its own, so that Ctrl-C reaches whoever uses it first and the server is ended,
//! in order, by its owner's drop.

mod daemon;
mod jaeger;
mod jars;
mod kafka;
mod ports;
mod postgres;
mod programs;

pub use jaeger::LocalJaeger;
pub use kafka::LocalKafka;
pub use ports::free_port;
pub use postgres::{LocalPostgres, PostgresOptions};
pub use programs::{java, maven, postgres_bin};
