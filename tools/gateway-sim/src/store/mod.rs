//! The durable books: redb, one writer thread, one commit for each batch of requests.

mod books;
mod writer;

pub(crate) use books::{Books, Reader, Stored};
pub(crate) use writer::{Store, StoreError, Writer};
