use std::time::Duration;

use tercet_order::Settings;
use tercet_service_kit::settings::{Stop, try_parse_from};

fn parse(arguments: &[&str]) -> Result<Settings, Vec<String>> {
    let arguments = ["order-service"].iter().chain(arguments);
    match try_parse_from(arguments, Settings::problems) {
        Ok(settings) => Ok(settings),
        Err(Stop::Wrong(wrong)) => Err(wrong.problems().to_vec()),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn the_defaults_fit_together() {
    let settings = parse(&[]).unwrap();
    assert!(!settings.hold_is_short());
    assert!(!settings.seed_demo);
    let timing = settings.timing();
    assert_eq!(timing.before_pivot, Some(Duration::from_mins(8)));
    assert_eq!(timing.budgets["charge-payment"], Duration::from_mins(5));
}

#[test]
fn a_hold_outlasts_what_must_happen_in_it() {
    let problems = parse(&["--hold-ttl-seconds=330"]).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains("ORDER_HOLD_TTL_SECONDS"),
        "{problems:?}"
    );
    assert!(parse(&["--hold-ttl-seconds=331"]).is_ok());
    let settings = parse(&["--hold-ttl-seconds=5", "--allow-short-hold"]).unwrap();
    assert!(settings.hold_is_short());
}

#[test]
fn a_charge_may_take_as_long_as_its_answer() {
    let problems = parse(&["--charge-budget-seconds=40"]).unwrap_err();
    assert!(problems[0].contains("ORDER_CHARGE_BUDGET_SECONDS"));
    assert!(parse(&["--charge-budget-seconds=41"]).is_ok());
    let quick = ["--gateway-timeout-ms=1000", "--resolve-after-ms=300"];
    assert!(parse(&["--charge-budget-seconds=2", quick[0], quick[1]]).is_ok());
}

#[test]
fn mistakes_are_told_all_at_once() {
    let problems = parse(&["--grpc-addr=x", "--hold-ttl-seconds=0", "--log-format=xml"]);
    let problems = problems.unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:#?}");
}

#[test]
fn stacks_that_share_a_broker_share_no_group() {
    let group = |prefix| parse(&["--topic-prefix", prefix]).unwrap().consumer_group();
    assert_ne!(group("one"), group("two"));
}

#[test]
fn passwords_are_not_shown() {
    let settings = parse(&["--database-url=postgres://u:sesame@h/d"]).unwrap();
    assert!(!format!("{settings:?}").contains("sesame"));
}
