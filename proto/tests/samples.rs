//! Golden samples: `samples/<Event>.json` is what each event looks like on Kafka.
//!
//! The producer test renders each event and compares it with its sample; the consumer test reads the
//! sample back, also with a field that this version does not know. `UPDATE_SAMPLES=1 cargo test -p
//! tercet-contracts` writes them anew: look at the diff, the field names are the contract.

use std::{collections::BTreeSet, fmt::Debug, fs, path::PathBuf};

use prost::Name;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tercet_contracts::{events::v1::*, wkt::Timestamp};

const ORDER: &str = "01937b1e-0000-7000-8000-000000000001";
const RESERVATION: &str = "01937b1e-0000-7000-8000-000000000002";
const PAYMENT: &str = "01937b1e-0000-7000-8000-000000000003";
const EVENT: &str = "01937b1e-0000-7000-8000-000000000004";

fn at(nanos: i32) -> Option<Timestamp> {
    Some(Timestamp {
        seconds: 1_796_000_000,
        nanos,
    })
}

fn stock_lines() -> Vec<StockLine> {
    vec![
        StockLine {
            sku: "MUG-STONE".into(),
            quantity: 1,
        },
        StockLine {
            sku: "TEA-GREEN-100G".into(),
            quantity: 2,
        },
    ]
}

fn missing_lines() -> Vec<MissingLine> {
    vec![MissingLine {
        sku: "SCALE-POCKET".into(),
        requested: 2,
        available: 1,
    }]
}

/// Runs both tests on one event and says its name.
fn check<E>(event: E) -> &'static str
where
    E: Serialize + DeserializeOwned + PartialEq + Debug + Name,
{
    let path = samples_dir().join(format!("{}.json", E::NAME));
    let rendered = serde_json::to_value(&event).unwrap();
    if std::env::var_os("UPDATE_SAMPLES").is_some() {
        fs::write(
            &path,
            format!("{}\n", serde_json::to_string_pretty(&rendered).unwrap()),
        )
        .unwrap();
    }
    let text = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{} has no sample {}: {error}", E::NAME, path.display()));
    let sample: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        rendered,
        sample,
        "producer: {} is no longer rendered as its sample",
        E::NAME
    );

    let read: E = serde_json::from_value(sample.clone()).unwrap();
    assert_eq!(
        read,
        event,
        "consumer: {} is no longer read from its sample",
        E::NAME
    );

    let mut from_the_future = sample;
    from_the_future["aFieldOfTomorrow"] = json!({ "nested": [1, 2, 3] });
    let read: E = serde_json::from_value(from_the_future).unwrap();
    assert_eq!(
        read,
        event,
        "consumer: {} chokes on a field it does not know",
        E::NAME
    );
    E::NAME
}

fn samples_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("samples")
}

fn order_events() -> Vec<&'static str> {
    let order_id = ORDER.to_owned();
    vec![
        check(OrderPlaced {
            order_id: order_id.clone(),
            occurred_at: at(123_456_000),
            customer_id: "customer-7".into(),
            currency: "EUR".into(),
            total_minor: 3_680,
            lines: vec![PricedLine {
                sku: "TEA-GREEN-100G".into(),
                quantity: 2,
                unit_price_minor: 890,
            }],
        }),
        check(OrderConfirmed {
            order_id: order_id.clone(),
            occurred_at: at(0),
            payment_id: PAYMENT.into(),
            reservation_id: RESERVATION.into(),
        }),
        check(OrderCancelling {
            order_id: order_id.clone(),
            occurred_at: at(1_000),
        }),
        check(OrderCancelRefused {
            order_id: order_id.clone(),
            occurred_at: at(0),
            reason: "REFUND_REFUSED".into(),
        }),
        check(OrderCancelled {
            order_id,
            occurred_at: at(0),
            reason: "OUT_OF_STOCK".into(),
            message: "1 line could not be had".into(),
            missing_lines: missing_lines(),
        }),
    ]
}

fn inventory_events() -> Vec<&'static str> {
    let reservation_id = RESERVATION.to_owned();
    let order_id = ORDER.to_owned();
    vec![
        check(StockReserved {
            reservation_id: reservation_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
            lines: stock_lines(),
            expire_time: Some(Timestamp {
                seconds: 1_796_000_900,
                nanos: 5_000,
            }),
        }),
        check(ReservationRefused {
            reservation_id: reservation_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
            reason: "OUT_OF_STOCK".into(),
            missing_lines: missing_lines(),
        }),
        check(ReservationCommitted {
            reservation_id: reservation_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
            after_expiry: true,
        }),
        check(CommitRefused {
            reservation_id: reservation_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
            reason: "HOLD_EXPIRED".into(),
            missing_lines: missing_lines(),
        }),
        check(ReservationReleased {
            reservation_id: reservation_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
            changed: true,
        }),
        check(ReservationExpired {
            reservation_id: reservation_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
        }),
        check(StockReturned {
            reservation_id,
            occurred_at: at(0),
            order_id,
            changed: true,
        }),
    ]
}

fn payment_events() -> Vec<&'static str> {
    let payment_id = PAYMENT.to_owned();
    let order_id = ORDER.to_owned();
    vec![
        check(PaymentCharged {
            payment_id: payment_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
            amount_minor: 9_007_199_254_740_993, // more than a double can hold: int64 goes as a string
            currency: "EUR".into(),
        }),
        check(PaymentDeclined {
            payment_id: payment_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
            reason: "CARD_DECLINED".into(),
        }),
        check(PaymentVoided {
            payment_id: payment_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
            changed: true,
        }),
        check(PaymentRefunded {
            payment_id: payment_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
            amount_minor: 3_680,
            currency: "EUR".into(),
            changed: true,
        }),
        check(RefundDelayed {
            payment_id: payment_id.clone(),
            occurred_at: at(0),
            order_id: order_id.clone(),
            reason: "GATEWAY_UNAVAILABLE".into(),
        }),
        check(RefundRefused {
            payment_id,
            occurred_at: at(0),
            order_id,
            reason: "CHARGE_DISPUTED".into(),
        }),
    ]
}

#[test]
fn every_event_is_written_and_read_as_its_golden_sample() {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    names.extend(order_events());
    names.extend(inventory_events());
    names.extend(payment_events());
    names.insert(check(EventDiscarded {
        event_id: EVENT.into(),
        occurred_at: at(0),
        event_type: "tercet.events.v1.StockReserved".into(),
        reason: "RECORD_TOO_LARGE".into(),
    }));

    let files: BTreeSet<String> = fs::read_dir(samples_dir())
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let names: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
    assert_eq!(
        files, names,
        "each event has one sample, and each sample is an event"
    );
}

#[test]
fn times_end_in_z_and_int64_is_a_string() {
    let rendered = serde_json::to_value(PaymentCharged {
        amount_minor: i64::MAX,
        occurred_at: at(5_000),
        ..PaymentCharged::default()
    })
    .unwrap();
    assert_eq!(rendered["amountMinor"], json!("9223372036854775807"));
    assert_eq!(rendered["occurredAt"], json!("2026-11-30T00:53:20.000005Z"));
}

#[test]
fn times_of_other_offsets_are_read_as_utc() {
    let read: PaymentVoided =
        serde_json::from_value(json!({ "occurredAt": "2026-11-30T02:53:20+02:00" })).unwrap();
    assert_eq!(read.occurred_at, at(0));
}
