use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord};
use tercet_testbed::kafka;

#[tokio::test]
async fn a_topic_is_read_back_as_it_was_written() {
    let topic = kafka::unique("testbed");
    kafka::create_topic(&topic, 3).await;
    assert!(kafka::read_all(&topic).await.is_empty());

    let producer: FutureProducer = ClientConfig::new()
        .set("bootstrap.servers", kafka::brokers())
        .create()
        .unwrap();
    for (key, payload) in [("a", "1"), ("a", "2"), ("b", "3")] {
        let headers = OwnedHeaders::new().insert(Header {
            key: "ce_id",
            value: Some(payload),
        });
        let record = FutureRecord::to(&topic)
            .key(key)
            .payload(payload)
            .headers(headers);
        producer
            .send(record, Duration::from_secs(10))
            .await
            .unwrap();
    }

    let records = kafka::read_all(&topic).await;
    let of_a: Vec<_> = records
        .iter()
        .filter(|r| r.key.as_deref() == Some("a"))
        .collect();
    assert_eq!(records.len(), 3);
    assert_eq!(of_a[0].payload, b"1");
    assert_eq!(of_a[1].payload, b"2");
    assert_eq!(of_a[1].headers["ce_id"], "2");

    kafka::delete_topic(&topic).await;
    assert!(
        kafka::read_all_from(&kafka::brokers(), &topic)
            .await
            .is_err()
    );
}
