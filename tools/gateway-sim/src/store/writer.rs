//! All writes pass through one thread, which commits them in batches.
//!
//! A commit costs a flush to disk. Requests that wait for one together share it; each is answered
//! only after the commit that holds its effect, so an answer never says more than the disk.

use std::{path::Path, sync::Arc, thread};

use redb::{Database, ReadableDatabase};
use tokio::sync::{mpsc, oneshot};

use super::books::{Books, Reader};

/// Requests that may share one commit.
const BATCH_MAX: usize = 64;
/// Requests that may wait for the writer; more than that wait in their handlers.
const QUEUE_MAX: usize = 1_024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the books cannot be read or written")]
    Redb(#[from] redb::Error),
    #[error("the writer has stopped")]
    Stopped,
}

/// Sends a result to its waiting request, once the commit is on disk.
type Reply = Box<dyn FnOnce() + Send>;
type Job = Box<dyn FnOnce(&mut Books<'_>) -> Result<Reply, redb::Error> + Send>;

/// The writer thread.
#[derive(Debug)]
pub(crate) struct Writer(thread::JoinHandle<()>);

impl Writer {
    /// Waits until the last batch is on disk.
    pub(crate) fn join(self) {
        if self.0.join().is_err() {
            tracing::error!("the writer ended in a panic");
        }
    }
}

/// A cheap handle on the books.
#[derive(Clone)]
pub(crate) struct Store {
    database: Arc<Database>,
    jobs: mpsc::Sender<Job>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl Store {
    /// Opens or makes the books in `folder`. The writer ends when the last handle is dropped;
    /// joining it closes the books.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Writer), StoreError> {
        std::fs::create_dir_all(folder).map_err(redb::Error::Io)?;
        let path = folder.join("books.redb");
        let database = Arc::new(Database::create(path).map_err(redb::Error::from)?);
        let setup = database.begin_write().map_err(redb::Error::from)?;
        Books::open(&setup)?;
        setup.commit().map_err(redb::Error::from)?;

        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let writer = Arc::clone(&database);
        let thread = thread::Builder::new()
            .name("books-writer".into())
            .spawn(move || write_all(&writer, queue))
            .map_err(redb::Error::Io)?;
        Ok((Self { database, jobs }, Writer(thread)))
    }

    /// Runs `work` in a write transaction of its own or a shared one; returns once it is on disk.
    /// `work` must decide before it writes: its writes are kept unless the store itself fails.
    pub(crate) async fn write<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&mut Books<'_>) -> Result<T, redb::Error> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move |books| {
            let result = work(books)?;
            // A receiver that went away asked for no answer; the effect stands.
            Ok(Box::new(move || drop(sender.send(result))))
        });
        self.jobs.send(job).await.map_err(|_| StoreError::Stopped)?;
        receiver.await.map_err(|_| StoreError::Stopped)
    }

    /// One consistent view of the books as last committed.
    pub(crate) fn read(&self) -> Result<Reader, StoreError> {
        let transaction = self.database.begin_read().map_err(redb::Error::from)?;
        Ok(Reader::open(&transaction)?)
    }
}

fn write_all(database: &Database, mut queue: mpsc::Receiver<Job>) {
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while queue.blocking_recv_many(&mut batch, BATCH_MAX) > 0 {
        match commit(database, batch.drain(..)) {
            Ok(replies) => replies.into_iter().for_each(|reply| reply()),
            // The replies are dropped unsent: each request answers 500 and stores nothing.
            Err(error) => tracing::error!(error = %error, "a batch was not written"),
        }
    }
}

fn commit(database: &Database, jobs: impl Iterator<Item = Job>) -> Result<Vec<Reply>, redb::Error> {
    let transaction = database.begin_write()?;
    let mut books = Books::open(&transaction)?;
    let replies = jobs
        .map(|job| job(&mut books))
        .collect::<Result<Vec<_>, _>>()?;
    drop(books);
    transaction.commit()?;
    Ok(replies)
}
