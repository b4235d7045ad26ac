use std::time::{Duration, Instant};

use tokio::net::TcpListener;

use crate::collector::Collector;
use crate::program::{CALLER_TRACE, Ran, run};

async fn run_towards(url: &str, more: &[(&str, &str)]) -> Ran {
    let mut variables = vec![("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), url.to_owned())];
    variables.extend(
        more.iter()
            .map(|(name, value)| ((*name).into(), (*value).into())),
    );
    tokio::task::spawn_blocking(move || {
        let variables: Vec<_> = variables.iter().map(|(n, v)| (&**n, &**v)).collect();
        run(&variables)
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_spans_leave_before_the_program_ends() {
    let (collector, url) = Collector::listen().await;
    let ran = run_towards(&url, &[("OTEL_SERVICE_NAME", "orders")]).await;
    assert!(ran.succeeded, "{}", ran.stdout);

    let mut spans = collector.spans();
    spans.sort_by_key(|span| span.name.clone());
    let names: Vec<&str> = spans.iter().map(|span| &*span.name).collect();
    assert_eq!(names, ["place_order", "step"], "{}", ran.stdout);
    let trace = spans[0].trace_id.iter().map(|byte| format!("{byte:02x}"));
    assert_eq!(trace.collect::<String>(), CALLER_TRACE);
    assert_eq!(spans[1].parent_span_id, spans[0].span_id);

    let resource = collector.resource();
    assert_eq!(resource["service.name"], "orders");
    assert_eq!(resource["service.namespace"], "tercet");
    assert_eq!(resource["service.instance.id"], "order-1");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaves_where_the_sdk_is_turned_off_but_contexts_still_travel() {
    let (collector, url) = Collector::listen().await;
    let ran = run_towards(&url, &[("OTEL_SDK_DISABLED", "true")]).await;
    assert!(ran.succeeded, "{}", ran.stdout);
    assert!(collector.spans().is_empty());
    assert!(ran.stdout.contains(&format!("sent 00-{CALLER_TRACE}-")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_never_answers_does_not_hold_up_the_end() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let started = Instant::now();
    let ran = run_towards(&url, &[]).await;
    assert!(ran.succeeded, "{}", ran.stdout);
    assert!(
        started.elapsed() < Duration::from_secs(6),
        "{:?}",
        started.elapsed()
    );
    ran.line_that_says("the last spans were not exported");
}
