//! The `tercet` command, and what its demo and the end-to-end tests share: [`stack`] starts the whole
//! system as real processes, [`audit`] proves that what it did adds up.
//!
//! Data goes to stdout, talk to stderr, both through one [`screen::Screen`].

#![warn(missing_docs)]

pub mod audit;
pub mod broker;
pub mod client;
pub mod commands;
pub mod demo;
pub mod doctor;
pub mod failure;
pub mod history;
pub mod ids;
pub mod screen;
pub mod settings;
mod signals;
pub mod stack;
pub mod timeline;
pub mod topics;
pub mod view;
pub mod why;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{
    screen::Screen,
    settings::{Arguments, Environment},
};

/// Parses the command line, does what it says, and tells how it ended.
pub async fn run() -> ExitCode {
    let arguments = Arguments::parse();
    let screen = Screen::new(&arguments.global, &Environment::read());
    match arguments.command.run(&arguments.global, &screen).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            screen.failure(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}
