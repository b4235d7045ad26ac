use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;
use tercet_contracts::order::v1::{self as pb, order::State};
use tercet_testbed::eventually;
use tonic::Code;
use uuid::Uuid;

use crate::world::{WITHIN, World, a_basket, error, fields, fresh_key, is_replayed, keyed, line};

#[tokio::test]
async fn a_placed_order_is_one_commit() {
    let world = World::new().await;
    let order = world.placed().await;

    assert_eq!(order.state(), State::Pending);
    assert_eq!(order.stage, "stock is being reserved");
    assert_eq!(order.total_minor, 2 * 890 + 1_900);
    assert_eq!(order.lines[0].unit_price_minor, 890);
    assert_eq!(world.events(&order).await, ["OrderPlaced"]);
    let (payload, headers): (Value, Value) =
        sqlx::query_as("SELECT payload, headers FROM outbox_events")
            .fetch_one(world.database.pool())
            .await
            .unwrap();
    assert_eq!(payload["orderId"], *order.order_id);
    assert_eq!(payload["totalMinor"], "3680");
    assert!(payload["occurredAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!(headers["ce_correlationid"], *order.saga_id);
    // Only the outcome of a command names one.
    assert_eq!(headers.get("ce_commandid"), None);
    for table in [
        "SELECT count(*) FROM orders WHERE version = 1",
        "SELECT count(*) FROM sagas WHERE subject_id = (SELECT id FROM orders)",
        "SELECT count(*) FROM idempotency_keys WHERE response IS NOT NULL",
    ] {
        assert_eq!(world.count(table).await, 1, "{table}");
    }
}

#[tokio::test]
async fn a_repeat_gets_the_same_answer() {
    let world = World::new().await;
    let key = fresh_key();
    let first = world.service.place(&key).await.unwrap();
    assert!(!is_replayed(&first));
    let first = first.into_inner();
    let id = &first.order.as_ref().unwrap().order_id;
    // The order has gone on meanwhile; the answer has not.
    world.service.cancel(id, &fresh_key()).await.unwrap();

    for instance in [&world.service, &world.another_instance().await] {
        let again = instance.place(&key).await.unwrap();
        assert!(is_replayed(&again));
        assert_eq!(again.into_inner(), first);
    }
    assert_eq!(world.count("SELECT count(*) FROM orders").await, 1);
}

#[tokio::test]
async fn a_key_is_for_one_request() {
    let world = World::new().await;
    let key = fresh_key();
    world.service.place(&key).await.unwrap();
    let other = pb::PlaceOrderRequest {
        lines: vec![line("MUG-STONE", 1)],
        ..a_basket()
    };
    let refused = error(world.service.place_as(other, &key).await);
    assert_eq!(refused.code, Code::InvalidArgument);
    assert_eq!(refused.reason, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(world.count("SELECT count(*) FROM orders").await, 1);
}

#[tokio::test]
async fn twenty_at_once_with_one_key_are_one_order() {
    let world = World::new().await;
    let other = world.another_instance().await;
    let key = fresh_key();
    let calls = (0..20).map(|n| {
        let instance = if n % 2 == 0 { &world.service } else { &other };
        instance.place(&key)
    });
    let answers = futures::future::join_all(calls).await;
    let ids: BTreeSet<String> = answers
        .into_iter()
        .map(|answer| answer.unwrap().into_inner().order.unwrap().order_id)
        .collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(world.count("SELECT count(*) FROM orders").await, 1);
    assert_eq!(world.count("SELECT count(*) FROM sagas").await, 1);
}

/// The second call's insert waits for the first, and cannot itself see what that one committed.
#[tokio::test]
async fn a_call_that_waited_for_another_instance_sees_the_winner() {
    let world = World::new().await;
    let other = world.another_instance().await;
    let key = fresh_key();
    // The first call claims the key, and then waits for this.
    let mut barrier = world.database.pool().begin().await.unwrap();
    sqlx::query("LOCK TABLE sagas IN EXCLUSIVE MODE")
        .execute(&mut *barrier)
        .await
        .unwrap();
    let waiting = async |wanted: i64| {
        eventually("calls that wait for a lock", WITHIN, async || {
            let query = "SELECT count(*) FROM pg_stat_activity
                          WHERE datname = current_database() AND wait_event_type = 'Lock'
                            AND query LIKE '%INSERT INTO %'";
            (world.count(query).await >= wanted).then_some(())
        })
        .await;
    };
    let first = world.service.place(&key);
    let second = async {
        waiting(1).await;
        other.place(&key).await
    };
    let release = async {
        waiting(2).await;
        barrier.rollback().await.unwrap();
    };
    let (first, second, ()) = tokio::join!(first, second, release);
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(!is_replayed(&first));
    assert!(is_replayed(&second));
    assert_eq!(first.into_inner(), second.into_inner());
}

#[tokio::test]
async fn a_call_that_waits_too_long_is_told_to_come_again() {
    let world = World::new().await;
    let key = fresh_key();
    let mut rival = world.database.pool().begin().await.unwrap();
    sqlx::query(
        "INSERT INTO idempotency_keys (tenant, method, key, request_hash, expires_at)
         VALUES ('default', 'PlaceOrder', $1, '\\x00', now() + interval '1 day')",
    )
    .bind(&key)
    .execute(&mut *rival)
    .await
    .unwrap();
    let refused = error(world.service.place(&key).await);
    assert_eq!(refused.code, Code::Aborted);
    assert_eq!(refused.reason, "IDEMPOTENCY_KEY_IN_FLIGHT");
    assert!(refused.retry_after.is_some());

    rival.rollback().await.unwrap();
    assert!(!is_replayed(&world.service.place(&key).await.unwrap()));
}

#[tokio::test]
async fn every_bad_field_is_named_at_once() {
    let world = World::new().await;
    let basket = pb::PlaceOrderRequest {
        customer_id: "a\0b".to_owned(),
        currency: "EURO".to_owned(),
        payment_method: String::new(),
        lines: vec![line("TEA-GREEN-100G", 0), line("NO-SUCH-THING", 1)],
        validate_only: false,
    };
    let refused = error(world.service.orders.clone().place_order(basket).await);
    assert_eq!(refused.code, Code::InvalidArgument);
    assert_eq!(refused.reason, "INVALID_REQUEST");
    assert_eq!(
        fields(&refused),
        [
            "idempotency-key",
            "customer_id",
            "currency",
            "payment_method",
            "lines[0].quantity",
            "lines[1].sku",
        ]
    );
}

#[tokio::test]
async fn a_mended_request_may_keep_its_key() {
    let world = World::new().await;
    let key = fresh_key();
    let basket = pb::PlaceOrderRequest {
        lines: vec![line("NO-SUCH-THING", 1)],
        ..a_basket()
    };
    let refused = error(world.service.place_as(basket, &key).await);
    assert_eq!(fields(&refused), ["lines[0].sku"]);
    assert_eq!(
        world.count("SELECT count(*) FROM idempotency_keys").await,
        0
    );
    world.service.place(&key).await.unwrap();
}

#[tokio::test]
async fn keys_that_are_none_are_refused() {
    let world = World::new().await;
    for key in ["with space", &"k".repeat(256)] {
        let refused = error(world.service.place(key).await);
        assert_eq!(fields(&refused), ["idempotency-key"], "{key}");
    }
}

#[tokio::test]
async fn validate_only_prices_and_leaves_nothing() {
    let world = World::new().await;
    let basket = pb::PlaceOrderRequest {
        validate_only: true,
        ..a_basket()
    };
    let mut orders = world.service.orders.clone();
    let order = orders.place_order(basket.clone()).await.unwrap();
    let order = order.into_inner().order.unwrap();
    assert_eq!(order.total_minor, 3_680);
    assert_eq!(order.order_id, "");
    assert_eq!(order.state(), State::Unspecified);
    // A key is not taken, either.
    let key = fresh_key();
    orders.place_order(keyed(basket, &key)).await.unwrap();
    for table in [
        "SELECT count(*) FROM orders",
        "SELECT count(*) FROM sagas",
        "SELECT count(*) FROM outbox_events",
        "SELECT count(*) FROM idempotency_keys",
    ] {
        assert_eq!(world.count(table).await, 0, "{table}");
    }
    assert!(!is_replayed(&world.service.place(&key).await.unwrap()));
}

/// A dropped call never leaves half an order, nor an open transaction on a pooled connection.
#[tokio::test]
async fn callers_that_go_away_leave_all_or_nothing() {
    let world = World::new().await;
    for n in 0..60_u64 {
        let key = fresh_key();
        let mut request = keyed(a_basket(), &key);
        request.set_timeout(Duration::from_micros(100 + n * 150));
        let _either = world.service.orders.clone().place_order(request).await;
        world.service.place(&key).await.unwrap();
    }
    assert_eq!(world.count("SELECT count(*) FROM orders").await, 60);
    assert_eq!(world.count("SELECT count(*) FROM sagas").await, 60);
    eventually("no transaction left open", WITHIN, async || {
        let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                       AND usename = 'order_service' AND state = 'idle in transaction'";
        (world.count(open).await == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_order_whose_process_died_goes_on_in_another() {
    let world = World::new().await;
    // As if the process had died right after the commit: nobody sends the command.
    let order = world.placed().await;
    let sent = world.fakes.came().len();
    world.service.shutdown.begin();
    sqlx::query("UPDATE sagas SET next_action_at = now() WHERE id = $1")
        .bind(Uuid::parse_str(&order.saga_id).unwrap())
        .execute(world.database.pool())
        .await
        .unwrap();
    let _other = world.another_instance().await;
    eventually("the command again", WITHIN, async || {
        (world.fakes.came().len() > sent).then_some(())
    })
    .await;
}
