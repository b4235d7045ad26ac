use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// How to tell that a process can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// GET of this path answers 200.
    Http {
        /// Where it listens for HTTP.
        address: SocketAddr,
        /// For our services `/readyz`.
        path: String,
    },
    /// Something accepts connections.
    Tcp(SocketAddr),
}

impl Ready {
    /// Looks once. The error says what is not there yet.
    pub(crate) async fn probe(&self) -> Result<(), String> {
        match timeout(PROBE_TIMEOUT, self.probe_unbounded()).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("no answer".to_owned()),
        }
    }

    async fn probe_unbounded(&self) -> std::io::Result<Result<(), String>> {
        match self {
            Self::Tcp(address) => {
                TcpStream::connect(address).await?;
                Ok(Ok(()))
            }
            Self::Http { address, path } => {
                let mut stream = TcpStream::connect(address).await?;
                // HTTP/1.0: the server closes when it has answered, so reading to the end is enough.
                let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
                stream.write_all(request.as_bytes()).await?;
                let mut answer = Vec::new();
                stream.read_to_end(&mut answer).await?;
                let answer = String::from_utf8_lossy(&answer);
                let is_ok = answer
                    .split_ascii_whitespace()
                    .nth(1)
                    .is_some_and(|status| status == "200");
                let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
                Ok(if is_ok { Ok(()) } else { Err(body.to_owned()) })
            }
        }
    }
}
