//! A server that says it is PostgreSQL 13.4: an old one cannot be had everywhere, and how it greets a
//! client is all that matters here.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Ends when it is dropped.
pub(super) struct OldPostgres {
    pub(super) address: SocketAddr,
    _clients: JoinSet<()>,
}

impl OldPostgres {
    pub(super) async fn start() -> Self {
        let door = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = door.local_addr().unwrap();
        let mut clients = JoinSet::new();
        clients.spawn(async move {
            while let Ok((client, _)) = door.accept().await {
                // One after the other: each is gone as soon as it knows the version.
                let _ = greet(client).await;
            }
        });
        Self {
            address,
            _clients: clients,
        }
    }
}

const SSL_REQUEST: u32 = 80_877_103;

async fn greet(mut client: TcpStream) -> std::io::Result<()> {
    loop {
        let length = client.read_u32().await?;
        let code = client.read_u32().await?;
        let mut rest = vec![0; length.saturating_sub(8) as usize];
        client.read_exact(&mut rest).await?;
        if code != SSL_REQUEST {
            break;
        }
        client.write_all(b"N").await?;
    }
    let version = b"server_version\x0013.4\x00";
    let mut hello = vec![b'R', 0, 0, 0, 8, 0, 0, 0, 0, b'S'];
    hello.extend(u32::try_from(version.len() + 4).unwrap().to_be_bytes());
    hello.extend(version);
    hello.extend([b'Z', 0, 0, 0, 5, b'I']);
    client.write_all(&hello).await?;
    // Until it hangs up.
    tokio::io::copy(&mut client, &mut tokio::io::sink()).await?;
    Ok(())
}
