use std::error::Error;
use std::ffi::OsString;

use clap::builder::ValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};

pub(super) enum Failed {
    Shown(clap::Error),
    Wrong(Vec<String>),
}

/// Parses, and on a mistake goes on to find the others: clap stops at the first one, so the argument
/// it stopped at is loosened until it cannot fail again, and the whole is parsed anew. Each round
/// loosens at least one argument, which bounds the rounds.
///
/// Each round parses with a copy: parsing builds a command, and in a built one an argument that was
/// changed is confused with its neighbour.
pub(super) fn matches(mut command: Command, arguments: &[OsString]) -> Result<ArgMatches, Failed> {
    let mut problems = Vec::new();
    let rounds_max = command.get_arguments().count() + 1;
    for _ in 0..rounds_max {
        let mut built = command.clone();
        let error = match built.try_get_matches_from_mut(arguments) {
            Ok(matches) if problems.is_empty() => return Ok(matches),
            Ok(_) => break,
            Err(error) => error,
        };
        if !error.use_stderr() {
            return Err(Failed::Shown(error));
        }
        let culprits = culprits(&built, &error);
        if culprits.is_empty() {
            problems.push(first_line(&error));
            break;
        }
        for culprit in culprits {
            problems.push(describe(&culprit, &error));
            command = command.mut_arg(culprit.get_id().clone(), loosen);
        }
    }
    Err(Failed::Wrong(problems))
}

fn culprits(command: &Command, error: &clap::Error) -> Vec<Arg> {
    let named: Vec<&str> = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(name)) => vec![name],
        Some(ContextValue::Strings(names)) => names.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    // An unknown argument is named too, but nothing can be loosened about it. Names are whole only
    // once a command is built; a built one must not be changed any more, as its index of flags would
    // point at other arguments.
    let mut built = command.clone();
    built.build();
    built
        .get_arguments()
        .filter(|arg| named.contains(&arg.to_string().as_str()))
        .cloned()
        .collect()
}

fn loosen(arg: Arg) -> Arg {
    arg.required(false)
        .env(None)
        .value_parser(ValueParser::os_string())
}

/// `ORDER_GRPC_ADDR (--grpc-addr): "x" is not valid: invalid socket address syntax`
fn describe(arg: &Arg, error: &clap::Error) -> String {
    let flag = arg
        .get_long()
        .map_or_else(|| arg.to_string(), |long| format!("--{long}"));
    let name = match arg.get_env() {
        Some(variable) => format!("{} ({flag})", variable.to_string_lossy()),
        None => flag,
    };
    if error.kind() == ErrorKind::MissingRequiredArgument {
        return format!("{name}: is missing");
    }
    let why = error
        .source()
        .map_or_else(|| allowed(error), |source| format!(": {source}"));
    match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) if value.is_empty() => format!("{name}: is empty"),
        // A secret is not repeated, and its parser's message might repeat it.
        Some(_) if arg.is_hide_env_values_set() => format!("{name}: is not valid"),
        Some(ContextValue::String(value)) => format!("{name}: \"{value}\" is not valid{why}"),
        _ => format!("{name}: is not valid{why}"),
    }
}

fn allowed(error: &clap::Error) -> String {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => format!(": it is one of {}", values.join(", ")),
        _ => String::new(),
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
