//! Every mistake at once, by the names an operator knows, and no secret repeated.

use std::net::SocketAddr;
use std::process::Command;

use clap::Parser;
use tercet_service_kit::settings::{Stop, try_parse_from};

#[derive(Debug, Parser)]
#[command(name = "some-service", version)]
struct Settings {
    /// Where to listen.
    #[arg(long, env = "SOME_ADDR", default_value = "127.0.0.1:1")]
    addr: SocketAddr,
    /// In seconds.
    #[arg(long, env = "SOME_GRACE_SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    grace: u32,
    /// Of the processor.
    #[arg(long, env = "SOME_KEY", hide_env_values = true, value_parser = key)]
    key: String,
}

fn key(text: &str) -> Result<String, String> {
    let is_one = text.starts_with("sk_");
    is_one
        .then(|| text.to_owned())
        .ok_or_else(|| format!("{text} is no key"))
}

fn problems(arguments: &[&str]) -> Vec<String> {
    let arguments = std::iter::once("some-service").chain(arguments.iter().copied());
    match try_parse_from::<Settings>(arguments, |_| Vec::new()) {
        Err(Stop::Wrong(wrong)) => wrong.problems().to_vec(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let problems = problems(&["--addr", "here", "--grace", "0"]);
    assert_eq!(problems.len(), 3, "{problems:#?}");
    for (name, value) in [
        ("SOME_ADDR (--addr)", "here"),
        ("SOME_GRACE_SECONDS (--grace)", "0"),
    ] {
        let told = problems
            .iter()
            .any(|it| it.contains(name) && it.contains(value));
        assert!(told, "{name}: {problems:#?}");
    }
    assert!(
        problems.contains(&"SOME_KEY (--key): is missing".to_owned()),
        "{problems:#?}"
    );
}

#[test]
fn a_wrong_secret_is_not_repeated() {
    let problems = problems(&["--key", "hunter2"]);
    assert_eq!(problems, ["SOME_KEY (--key): is not valid"]);
}

#[test]
fn a_check_over_all_settings_counts_as_well() {
    let arguments = ["some-service", "--key", "sk_1", "--grace", "5"];
    let check = |it: &Settings| vec![format!("{} s for {}", it.grace, it.addr)];
    let Err(Stop::Wrong(wrong)) = try_parse_from(arguments, check) else {
        panic!("accepted");
    };
    assert_eq!(wrong.problems(), ["5 s for 127.0.0.1:1"]);
    assert!(
        wrong
            .to_string()
            .starts_with("some-service: 1 setting is wrong")
    );
}

#[test]
#[ignore = "the process that the other tests start"]
#[expect(clippy::print_stdout, reason = "its output is looked at")]
fn process() {
    // The arguments are the test harness's; everything comes by the environment.
    match try_parse_from::<Settings>(["some-service"], |_| Vec::new()) {
        Ok(settings) => println!("\nkey {}", settings.key),
        Err(Stop::Wrong(wrong)) => println!("\n{wrong}"),
        Err(other) => panic!("{other:?}"),
    }
}

fn with(variables: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "settings::process", "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_secret_may_stand_in_a_file_but_the_variable_goes_before_it() {
    let file = std::env::temp_dir().join(format!("tercet-key-{}", std::process::id()));
    std::fs::write(&file, "sk_from_file\n").unwrap();
    let path = file.to_str().unwrap();
    let from_file = with(&[("SOME_KEY_FILE", path)]);
    let both = with(&[("SOME_KEY_FILE", path), ("SOME_KEY", "sk_from_variable")]);
    std::fs::remove_file(&file).unwrap();
    let gone = with(&[("SOME_KEY_FILE", path)]);
    assert!(from_file.contains("\nkey sk_from_file\n"), "{from_file}");
    assert!(both.contains("\nkey sk_from_variable\n"), "{both}");
    assert!(
        gone.contains(&format!("SOME_KEY_FILE: cannot read {path}")),
        "{gone}"
    );
}
