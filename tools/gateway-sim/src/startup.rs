//! Puts the simulator together.

use std::{io, net::SocketAddr, time::Duration};

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    http::{App, router},
    settings::Settings,
    store::{Store, StoreError, Writer},
};

/// How long running requests may take to end after a shutdown began.
const DRAIN: Duration = Duration::from_secs(5);

/// The simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken or not ours.
    #[error("cannot listen on {addr}")]
    Listen {
        /// The address from the settings.
        addr: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The data folder cannot be used, or another simulator uses it.
    #[error("cannot open the books in {folder}")]
    Books {
        /// The folder from the settings.
        folder: String,
        /// What the store said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A simulator that listens, but does not answer yet.
#[derive(Debug)]
pub struct Application {
    listener: TcpListener,
    addr: SocketAddr,
    store: Store,
    writer: Writer,
    settings: Settings,
}

/// Opens the books and the port.
pub async fn build(settings: Settings) -> Result<Application, StartError> {
    let (store, writer) =
        Store::open(&settings.data_dir).map_err(|source: StoreError| StartError::Books {
            folder: settings.data_dir.display().to_string(),
            source: source.into(),
        })?;
    let listen_error = |source| StartError::Listen {
        addr: settings.addr,
        source,
    };
    let listener = TcpListener::bind(settings.addr)
        .await
        .map_err(listen_error)?;
    let addr = listener.local_addr().map_err(listen_error)?;
    Ok(Application {
        listener,
        addr,
        store,
        writer,
        settings,
    })
}

impl Application {
    /// Where it listens; tells the port where the settings said 0.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Answers until `shutdown`, then lets running requests end within a bound.
    pub async fn run(self, shutdown: CancellationToken) -> io::Result<()> {
        let app = App::new(self.store, self.settings, shutdown.clone());
        let server = axum::serve(self.listener, router(app.clone()))
            .with_graceful_shutdown(shutdown.clone().cancelled_owned());
        let drain_over = async {
            shutdown.cancelled().await;
            tokio::time::sleep(DRAIN).await;
        };
        tokio::select! {
            served = server.into_future() => served?,
            // A client that keeps its connection open does not keep the process alive.
            () = drain_over => {}
        }
        drop(tokio::time::timeout(DRAIN, app.drained()).await);
        drop(app);
        let closed = tokio::task::spawn_blocking(move || self.writer.join());
        // A connection that outlived its drain still holds the books; all it was told is on disk.
        drop(tokio::time::timeout(DRAIN, closed).await);
        Ok(())
    }
}
