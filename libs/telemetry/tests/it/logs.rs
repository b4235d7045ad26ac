use crate::program::{CALLER_TRACE, run, run_as};

#[test]
fn a_line_names_its_trace_and_what_the_spans_around_it_know() {
    let ran = run(&[]);
    assert!(ran.succeeded, "{}", ran.stdout);
    let line = ran.line_that_says("asked");
    assert_eq!(line["level"], "INFO");
    assert_eq!(line["quantity"], 3);
    assert_eq!(line["span"], "step");
    assert_eq!(line["tercet.order.id"], "o-1");
    assert_eq!(line["tercet.saga.step"], "reserve-stock");
    assert_eq!(line["trace_id"], CALLER_TRACE);
    assert_eq!(line["span_id"].as_str().unwrap().len(), 16);
    assert!(line.get("otel.kind").is_none(), "{line}");
    assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
}

#[test]
fn what_an_event_says_itself_is_not_said_twice() {
    let ran = run(&[]);
    let line = ran.line_that_says("asked again");
    assert_eq!(line["tercet.saga.step"], "its own");
    let text = ran.stdout.lines().find(|it| it.contains("asked again"));
    assert_eq!(text.unwrap().matches("tercet.saga.step").count(), 1);
}

#[test]
fn fewer_lines_do_not_cost_the_trace() {
    let ran = run(&[("RUST_LOG", "warn")]);
    assert!(ran.lines().iter().all(|it| it["message"] != "asked"));
    let line = ran.line_that_says("asked again");
    assert_eq!(line["tercet.order.id"], "o-1");
    assert_eq!(line["trace_id"], CALLER_TRACE);
    assert!(ran.stdout.contains(&format!("sent 00-{CALLER_TRACE}-")));
}

#[test]
fn a_filter_that_cannot_be_read_ends_the_start() {
    let ran = run(&[("RUST_LOG", "tercet=loud=very")]);
    assert!(!ran.succeeded, "{}", ran.stdout);
}

#[test]
fn people_see_the_same_without_control_characters() {
    let ran = run_as("program::pretty", &[]);
    let line = ran.stdout.lines().find(|it| it.contains("asked again"));
    let line = line.unwrap_or_else(|| panic!("{}", ran.stdout));
    assert!(line.contains("tercet.order.id=\"o-1\""), "{line}");
    assert!(
        line.ends_with(&format!(" trace_id={CALLER_TRACE}")),
        "{line}"
    );
    assert!(!line.contains('\u{1b}'), "{line}");
}

#[test]
fn metrics_say_whose_they_are() {
    let ran = run(&[(
        "OTEL_RESOURCE_ATTRIBUTES",
        "deployment.environment.name=test",
    )]);
    let build = "tercet_build_info{service_name=\"order-service\",version=\"";
    assert!(ran.stdout.contains(build), "{}", ran.stdout);
    let target = ran.stdout.lines().find(|it| it.starts_with("target_info{"));
    let target = target.unwrap_or_else(|| panic!("{}", ran.stdout));
    for attribute in [
        "deployment_environment_name=\"test\"",
        "service_instance_id=\"order-1\"",
        "service_name=\"order-service\"",
        "service_namespace=\"tercet\"",
        "telemetry_sdk_language=\"rust\"",
    ] {
        assert!(target.contains(attribute), "{attribute} in {target}");
    }
}
