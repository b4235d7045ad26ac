//! gRPC errors that a program can act on: every error names its reason, and says what is wrong with
//! which field, which resource, which state, and when to come back.
//!
//! A [`Problem`] becomes a [`tonic::Status`] whose details are the `google.rpc` messages every gRPC
//! ecosystem knows (AIP-193). [`ErrorInfo`](tonic_types::ErrorInfo) with reason and domain is always
//! among them; clients match on those two and never on the message.
//!
//! ```
//! use std::time::Duration;
//! use tercet_grpc_status::{Code, ErrorDomain, FieldViolations, Problem, Reason, decode};
//!
//! const DOMAIN: ErrorDomain = ErrorDomain::new("example.com");
//! const INVALID_REQUEST: Reason = Reason::new("INVALID_REQUEST");
//! const KEY_IN_FLIGHT: Reason = Reason::new("IDEMPOTENCY_KEY_IN_FLIGHT");
//!
//! fn check(quantity: i32) -> Result<(), FieldViolations> {
//!     let mut violations = FieldViolations::default();
//!     violations.check(quantity >= 1, "lines[0].quantity", "must be 1 or more");
//!     violations.into_result()
//! }
//!
//! let status = check(0).map_err(|v| v.into_problem(DOMAIN, INVALID_REQUEST).into_status());
//! assert_eq!(status.unwrap_err().code(), Code::InvalidArgument);
//!
//! let status = Problem::new(DOMAIN, Code::Aborted, KEY_IN_FLIGHT, "the first call is still at work")
//!     .retry_after(Duration::from_secs(1))
//!     .into_status();
//! assert_eq!(decode(&status).retry_after, Some(Duration::from_secs(1)));
//! ```

#![warn(missing_docs)]

mod decoded;
mod problem;
mod reason;
mod transient;
mod violations;

pub use decoded::{Decoded, Precondition, Resource, decode};
pub use problem::Problem;
pub use reason::{ErrorDomain, Reason};
pub use tonic::Code;
pub use transient::is_transient;
pub use violations::{FieldViolations, Violation};
