//! A gRPC server as every service runs it.
//!
//! [`Frame`] adds health, reflection (both versions, error details readable) and explicit limits to
//! a service's own methods, and passes every call through one layer that gives it a deadline, a
//! trace, a log line where it went wrong, and a place among the calls at work.

mod answer;
mod call;
pub mod deadline;
mod frame;
mod in_flight;
mod limits;

pub use frame::{Frame, ServeError, bind};
pub use limits::{Limits, MESSAGE_BYTES_MAX};

use tercet_grpc_status::Reason;

/// The deadline passed before the answer was there.
pub const DEADLINE_EXCEEDED: Reason = Reason::new("DEADLINE_EXCEEDED");
/// Too many calls are at work.
pub const OVERLOADED: Reason = Reason::new("OVERLOADED");
/// A fault of ours.
pub const INTERNAL: Reason = Reason::new("INTERNAL");
