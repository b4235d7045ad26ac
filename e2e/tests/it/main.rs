//! End-to-end tests: every service is a real process.
