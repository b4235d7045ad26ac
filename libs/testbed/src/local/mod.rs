//! PostgreSQL and Kafka from programs found on this machine, for `testbed exec` and for the demo.

mod ports;

pub use ports::free_port;
