//! The embedded broker: librdkafka's mock cluster, which speaks the Kafka protocol on loopback.
//!
//! It keeps nothing on disk, holds at most 5 MB or 100,000 records a partition and drops the oldest in
//! silence; the admin API (make topics, describe settings) is not there; the first join of a consumer
//! group takes about three seconds. Good for a demo; what a promise rests on is tested on real Kafka.

use std::{io, net::SocketAddr};

use anyhow::Context as _;
use rdkafka::{mocking::MockCluster, producer::DefaultProducerContext};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use crate::topics;

const BROKERS: i32 = 1;

/// Connections that wait at the door at the same time; more are turned away.
const CONNECTIONS_MAX: usize = 256;

/// A running broker; it ends with this value.
pub struct EmbeddedBroker {
    cluster: MockCluster<'static, DefaultProducerContext>,
    door: TcpListener,
    address: SocketAddr,
}

impl std::fmt::Debug for EmbeddedBroker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedBroker")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl EmbeddedBroker {
    /// Starts a broker that clients find at `port` (0: any), with the topics of each prefix.
    pub async fn start(port: u16, prefixes: &[String]) -> anyhow::Result<Self> {
        let cluster = MockCluster::new(BROKERS).context("cannot start the embedded broker")?;
        for topic in prefixes.iter().flat_map(|prefix| topics::names(prefix)) {
            cluster
                .create_topic(&topic, topics::PARTITIONS, BROKERS)
                .with_context(|| format!("cannot make the topic {topic}"))?;
        }
        let door = TcpListener::bind(("127.0.0.1", port))
            .await
            .with_context(|| format!("cannot listen on 127.0.0.1:{port}"))?;
        let address = door.local_addr()?;
        Ok(Self {
            cluster,
            door,
            address,
        })
    }

    /// Where clients find it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets clients in until the returned future is dropped.
    ///
    /// The cluster chooses its own port and tells it in every metadata answer, so only the first
    /// connection of a client comes through this door: it carries bytes and understands nothing.
    pub async fn serve(&self) -> io::Result<()> {
        let cluster = self.cluster.bootstrap_servers();
        let mut connections = JoinSet::new();
        loop {
            let (client, _) = self.door.accept().await?;
            while connections.try_join_next().is_some() {}
            if connections.len() >= CONNECTIONS_MAX {
                continue;
            }
            connections.spawn(carry(client, cluster.clone()));
        }
    }
}

async fn carry(mut client: TcpStream, cluster: String) {
    // Either side may go at any time; the client asks again.
    if let Ok(mut broker) = TcpStream::connect(cluster).await {
        let _ = tokio::io::copy_bidirectional(&mut client, &mut broker).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rdkafka::{
        ClientConfig,
        producer::{FutureProducer, FutureRecord},
    };

    use super::*;

    #[tokio::test]
    async fn a_client_that_knocks_at_the_door_can_publish() {
        let broker = EmbeddedBroker::start(0, &["t".to_owned()]).await.unwrap();
        let producer: FutureProducer = ClientConfig::new()
            .set("bootstrap.servers", broker.address().to_string())
            .set("enable.idempotence", "true")
            .create()
            .unwrap();
        let record = FutureRecord::to("t.order.events.v1")
            .key("order-1")
            .payload("{}");
        let sent = producer.send(record, Duration::from_secs(10));
        tokio::select! {
            ended = broker.serve() => panic!("the door closed: {ended:?}"),
            sent = sent => assert!(sent.unwrap().partition < topics::PARTITIONS),
        }
    }
}
