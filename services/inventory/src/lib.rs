//! Being built.

pub mod domain;
