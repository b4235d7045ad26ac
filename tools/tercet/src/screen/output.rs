//! The screen itself: two streams, one form of data.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::{
    failure::Failure,
    screen::{Ink, Progress, Record, table},
    settings::{Environment, Global, Output},
};

/// What tables and timelines are laid out for.
pub const COLUMNS: u16 = 100;

/// The one place that prints.
#[derive(Debug, Clone)]
pub struct Screen {
    output: Output,
    data_ink: Ink,
    talk_ink: Ink,
    live: bool,
}

impl Screen {
    /// A screen as the caller asked for it.
    pub fn new(global: &Global, environment: &Environment) -> Self {
        let talks_to_a_person = io::stderr().is_terminal();
        Self {
            output: global.output(),
            data_ink: Ink::new(environment.wants_colour(global.color, io::stdout().is_terminal())),
            talk_ink: Ink::new(environment.wants_colour(global.color, talks_to_a_person)),
            live: talks_to_a_person && !environment.is_dumb(),
        }
    }

    /// The form of the data.
    pub fn output(&self) -> Output {
        self.output
    }

    /// The ink for data.
    pub fn ink(&self) -> Ink {
        self.data_ink
    }

    /// The ink for talk.
    pub fn talk_ink(&self) -> Ink {
        self.talk_ink
    }

    /// Whether lines on stderr may be redrawn: a person watches.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Data, as it is. A closed pipe is not an error: the reader has seen enough.
    pub fn data(&self, text: &str) {
        let _ = writeln!(io::stdout().lock(), "{text}");
    }

    /// Talk.
    pub fn say(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Suggests the next command, to people only.
    pub fn suggest(&self, command: &str) {
        if self.live && self.output == Output::Table {
            self.say(&format!("{} {command}", self.talk_ink.dim("next:")));
        }
    }

    /// Many records: a table, an array, or a line each.
    pub fn list<R: Record>(&self, records: &[R]) {
        match self.output {
            Output::Table => self.data(&table(records, self.data_ink)),
            Output::Json => self.data(&pretty(&records)),
            Output::Jsonl => records
                .iter()
                .for_each(|record| self.data(&compact(record))),
        }
    }

    /// One record: drawn for people, or as one object.
    pub fn one<R: Serialize>(&self, record: &R, draw: impl FnOnce(&R, Ink) -> String) {
        match self.output {
            Output::Table => self.data(&draw(record, self.data_ink)),
            Output::Json => self.data(&pretty(record)),
            Output::Jsonl => self.data(&compact(record)),
        }
    }

    /// One of a stream of records: a line each in every form.
    pub fn next<R: Serialize>(&self, record: &R, draw: impl FnOnce(&R, Ink) -> String) {
        match self.output {
            Output::Table => self.data(&draw(record, self.data_ink)),
            Output::Json | Output::Jsonl => self.data(&compact(record)),
        }
    }

    /// Why the command ended badly.
    pub fn failure(&self, failure: &Failure) {
        match self.output {
            Output::Table => self.say(&failure.render(self.talk_ink)),
            Output::Json | Output::Jsonl => self.say(&failure.to_json().to_string()),
        }
    }

    /// Starts to show a piece of work that takes a while.
    pub fn progress(&self, what: &str) -> Progress {
        Progress::start(self.clone(), what)
    }
}

// Our records are maps with string keys and finite numbers: serialising them cannot fail.
fn pretty<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn compact<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
