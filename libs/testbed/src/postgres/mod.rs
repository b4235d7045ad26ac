//! Databases of one's own on the test server, cloned from templates that are built once.

mod database;
mod service_database;
mod template;

pub use database::{SERVER_VARIABLE, TestDatabase, server_url};
pub use service_database::{ServiceDatabase, create_roles, create_service_database};
