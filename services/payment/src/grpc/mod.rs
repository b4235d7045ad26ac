//! The edge: protobuf in, protobuf out, and errors that a program can act on.

mod convert;
mod server;
mod status;

pub use server::Server;
pub use status::ERRORS;
