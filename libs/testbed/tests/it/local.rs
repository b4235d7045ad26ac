//! Private servers are what production is, and leave nothing behind.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::producer::{FutureProducer, FutureRecord};
use sqlx::{Connection, PgConnection};
use tercet_testbed::kafka::{create_topic_on, read_all_from};
use tercet_testbed::local::{LocalJaeger, LocalKafka, LocalPostgres, PostgresOptions};

#[tokio::test]
async fn a_private_postgres_is_durable_and_goes_with_its_value() {
    let options = PostgresOptions {
        connections_max: 37,
    };
    let server = LocalPostgres::start(options).await.unwrap();
    let mut connection = PgConnection::connect(server.url()).await.unwrap();
    for (setting, expected) in [
        ("max_connections", "37"),
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("server_encoding", "UTF8"),
    ] {
        let actual: String = sqlx::query_scalar("SELECT current_setting($1)")
            .bind(setting)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(actual, expected, "{setting}");
    }
    let data: String = sqlx::query_scalar("SHOW data_directory")
        .fetch_one(&mut connection)
        .await
        .unwrap();

    let url = server.url().to_owned();
    drop(server); // though a session is open
    assert!(PgConnection::connect(&url).await.is_err());
    assert!(!std::path::Path::new(&data).exists(), "{data}");
}

#[tokio::test]
async fn a_private_kafka_keeps_messages_makes_no_topics_and_goes_with_its_value() {
    let broker = LocalKafka::start().await.unwrap();
    let brokers = broker.brokers().to_owned();
    create_topic_on(&brokers, "made", 3).await.unwrap();
    let producer: FutureProducer = ClientConfig::new()
        .set("bootstrap.servers", &brokers)
        .set("message.timeout.ms", "5000")
        .create()
        .unwrap();
    let wait = Duration::from_secs(5);
    let sent = |topic| producer.send(FutureRecord::to(topic).key("a").payload("1"), wait);
    sent("made").await.unwrap();
    sent("never_made").await.unwrap_err();
    assert_eq!(read_all_from(&brokers, "made").await.unwrap().len(), 1);

    drop(broker);
    assert!(TcpStream::connect(&brokers).is_err());
}

#[tokio::test]
async fn a_private_jaeger_takes_spans_answers_and_goes_with_its_value() {
    if let Err(why) = LocalJaeger::find() {
        // Straight to the terminal: the harness keeps the output of tests that pass.
        let _ = writeln!(std::io::stderr(), "  SKIPPED a_private_jaeger…: {why}");
        return;
    }
    let jaeger = LocalJaeger::start().await.unwrap();
    let address = |url: &str| url.strip_prefix("http://").unwrap().to_owned();
    let doors = [address(jaeger.otlp_url()), address(jaeger.query_url())];
    for door in &doors {
        TcpStream::connect(door).unwrap();
    }
    drop(jaeger);
    for door in &doors {
        assert!(TcpStream::connect(door).is_err(), "{door}");
    }
}
