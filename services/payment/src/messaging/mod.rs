//! What the world hears: payments' events as they go to Kafka.

pub mod events;
