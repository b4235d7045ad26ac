//! The gRPC side: a channel with a deadline, keys, and errors turned into words.

mod errors;
mod remote;

pub use remote::Remote;
