//! The command line: the only reader of arguments and environment.

use std::{ffi::OsString, time::Duration};

use clap::{Args, Parser, ValueEnum};

use crate::commands::Command;

/// `0.1.0 (commit)`; packagers set `TERCET_COMMIT` when they build.
pub const VERSION: &str = match option_env!("TERCET_COMMIT") {
    Some(commit) => commit,
    None => env!("CARGO_PKG_VERSION"),
};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed: something went wrong, or the audit or the demo found a violation
  2  usage: the command line is wrong
  3  not found
  4  refused by a service
  5  unreachable: no answer from a service

Data goes to stdout, everything else to stderr. NO_COLOR is honoured.";

/// Tercet: sagas over gRPC, Kafka and PostgreSQL. See it run, place orders, prove that they add up.
#[derive(Debug, Parser)]
#[command(
    name = "tercet",
    version = VERSION,
    after_help = EXIT_CODES,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Arguments {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Settings that every command understands.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// How data is printed; the JSON forms only ever gain fields
    #[arg(long, short, global = true, value_enum, default_value_t = Output::Table, env = "TERCET_OUTPUT")]
    pub output: Output,
    /// The same as --output json
    #[arg(long, global = true)]
    pub json: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto)]
    pub color: Colour,
    /// Where the order service listens
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "TERCET_ORDER_URL",
        default_value = "http://127.0.0.1:50051"
    )]
    pub order_url: String,
    /// Where the inventory service listens
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "TERCET_INVENTORY_URL",
        default_value = "http://127.0.0.1:50053"
    )]
    pub inventory_url: String,
    /// How long to wait for one answer
    #[arg(
        long = "timeout",
        global = true,
        value_name = "SECONDS",
        env = "TERCET_TIMEOUT_SECONDS",
        default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=600)
    )]
    pub timeout_seconds: u64,
}

impl Global {
    /// How data is printed.
    pub fn output(&self) -> Output {
        if self.json { Output::Json } else { self.output }
    }

    /// How long to wait for one answer.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }
}

/// The form in which data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people
    Table,
    /// One JSON document
    Json,
    /// One JSON object a line
    Jsonl,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What the environment says about the terminal.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    no_color: Option<OsString>,
    term: Option<OsString>,
}

impl Environment {
    /// Reads the variables that clap cannot read as options: their mere presence means something.
    pub fn read() -> Self {
        Self {
            no_color: std::env::var_os("NO_COLOR"),
            term: std::env::var_os("TERM"),
        }
    }

    /// Whether `colour` means colours on a stream that is or is not a terminal.
    pub fn wants_colour(&self, colour: Colour, is_terminal: bool) -> bool {
        match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => is_terminal && !self.is_dumb() && !self.refuses_colour(),
        }
    }

    /// Whether the terminal can move its cursor.
    pub fn is_dumb(&self) -> bool {
        self.term.as_ref().is_some_and(|term| term == "dumb")
    }

    // no-color.org: present and not empty, whatever its value.
    fn refuses_colour(&self) -> bool {
        self.no_color
            .as_ref()
            .is_some_and(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }

    #[test]
    fn no_color_counts_only_where_nobody_said_otherwise() {
        let set = Environment {
            no_color: Some("1".into()),
            term: None,
        };
        assert!(!set.wants_colour(Colour::Auto, true));
        assert!(set.wants_colour(Colour::Always, true));
        let empty = Environment {
            no_color: Some("".into()),
            term: None,
        };
        assert!(empty.wants_colour(Colour::Auto, true));
        assert!(!empty.wants_colour(Colour::Auto, false));
    }

    #[test]
    fn help_names_every_exit_code() {
        for code in 0..=5 {
            assert!(EXIT_CODES.contains(&format!("\n  {code}  ")), "{code}");
        }
    }
}
