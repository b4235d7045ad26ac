//! See `tests/it`.
