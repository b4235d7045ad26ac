//! Command line and environment, parsed once into a `clap` type; every mistake is told at once.
//!
//! A service lists its settings as a `#[derive(clap::Parser)]` struct with an `env` for each, so
//! that `--help` shows variable, default and unit. A setting with `hide_env_values` is a secret: its
//! value is never printed, and for a variable `X` a file named by `X_FILE` is read as well.

mod gather;
mod secret_file;

use std::ffi::OsString;
use std::fmt;

use clap::{CommandFactory, Parser};

/// The exit code for wrong settings: `EX_USAGE`, by which a supervisor can tell that trying again is
/// useless.
pub const EXIT_CODE: u8 = 64;

/// What is wrong with the settings, one line each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct WrongSettings {
    program: String,
    problems: Vec<String>,
}

impl WrongSettings {
    /// The problems, each with the variable and the flag it is about.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl fmt::Display for WrongSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, count) = (&self.program, self.problems.len());
        let noun = if count == 1 {
            "setting is"
        } else {
            "settings are"
        };
        writeln!(f, "{program}: {count} {noun} wrong")?;
        for problem in &self.problems {
            writeln!(f, "  {problem}")?;
        }
        write!(f, "Run with --help to see every setting.")
    }
}

/// The settings of this process. Prints help, version or every mistake, and exits, where that is
/// the answer.
pub fn parse<T: Parser>() -> T {
    parse_checked(|_| Vec::new())
}

/// As [`parse`], with a check over all settings together that names what does not fit.
pub fn parse_checked<T: Parser>(check: impl FnOnce(&T) -> Vec<String>) -> T {
    match try_parse_from(std::env::args_os(), check) {
        Ok(settings) => settings,
        Err(Stop::Shown(answer)) => answer.exit(),
        Err(Stop::Wrong(wrong)) => {
            eprintln!("{wrong}");
            std::process::exit(i32::from(EXIT_CODE));
        }
    }
}

/// Why there are no settings.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stop {
    /// `--help` or `--version` was asked for.
    Shown(clap::Error),
    /// The settings are wrong.
    Wrong(WrongSettings),
}

/// As [`parse_checked`], from given arguments and without exiting; the environment is read.
///
/// # Errors
/// Help was asked for, or the settings are wrong.
pub fn try_parse_from<T: Parser>(
    arguments: impl IntoIterator<Item = impl Into<OsString>>,
    check: impl FnOnce(&T) -> Vec<String>,
) -> Result<T, Stop> {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let (command, mut problems) = secret_file::read_all(<T as CommandFactory>::command());
    let program = command.get_name().to_owned();

    let parsed = gather::matches(command, &arguments).and_then(|matches| {
        T::from_arg_matches(&matches)
            .map_err(|error| gather::Failed::Wrong(vec![error.to_string()]))
    });
    match parsed {
        Ok(settings) => {
            problems.extend(check(&settings));
            if problems.is_empty() {
                return Ok(settings);
            }
        }
        Err(gather::Failed::Shown(answer)) => return Err(Stop::Shown(answer)),
        Err(gather::Failed::Wrong(found)) => problems.extend(found),
    }
    Err(Stop::Wrong(WrongSettings { program, problems }))
}
