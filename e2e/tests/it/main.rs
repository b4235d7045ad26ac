//! End-to-end tests: the services as real processes, on a real PostgreSQL and a real Kafka.
//!
//! Each test starts a system of its own ([`world`]), plays customer, and then reads everything that
//! was written down about its orders ([`evidence`]). Before a system goes, the auditor looks at it.
//!
//! * [`doctor`]: a setup that is wrong is told what is wrong with it.
//! * [`endings`]: every way in which an order can end.
//! * [`kill`]: services are killed at random while orders run.
//! * [`crash_points`]: services die at named lines.
//! * [`refund_hole`]: money went back, and the service died before it could write that down.
//! * [`lost_replies`]: the topics are deleted, with the replies on them.
//! * [`why`]: whatever holds an order up is named.
//!
//! Beside them, without any process: [`layers`], who may use whom.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod crash_points;
mod doctor;
mod endings;
mod evidence;
mod kill;
mod layers;
mod lost_replies;
mod refund_hole;
mod why;
mod world;
