//! What the world hears: reservations' events as they go to Kafka.

pub mod events;
