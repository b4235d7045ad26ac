//! The answer, for people and for programs.

use std::{fmt::Write as _, time::Duration};

use serde::Serialize;
use uuid::Uuid;

use super::{cause::Cause, finding::Evidence};
use crate::screen::Ink;

const WIDTH: usize = 100;

/// Why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// What was pasted.
    pub asked: String,
    /// What it is of; nothing if nobody knows it.
    pub kind: Option<&'static str>,
    /// The order it belongs to.
    pub order_id: Option<Uuid>,
    /// The cause's code.
    pub cause: Cause,
    /// One sentence.
    pub sentence: String,
    /// What shows it, and where it was read.
    pub evidence: Vec<Evidence>,
    /// What happens next by itself, and when.
    pub next: Vec<String>,
    /// What a person can do.
    pub advice: Vec<String>,
    /// Other causes that hold as well.
    pub also: Vec<Also>,
}

/// A cause that holds, and is not the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Also {
    /// Its code.
    pub cause: Cause,
    /// One sentence.
    pub sentence: String,
}

/// A diagnosis, and how long it took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The diagnosis.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// How long everything was read, in milliseconds.
    pub took_ms: u64,
    /// Nothing is waited for beyond this, in milliseconds.
    pub within_ms: u64,
}

impl Report {
    /// A diagnosis that took so long, of at most so long.
    pub fn new(diagnosis: Diagnosis, took: Duration, within: Duration) -> Self {
        let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self {
            diagnosis,
            took_ms: ms(took),
            within_ms: ms(within),
        }
    }

    /// For people.
    pub fn draw(&self, ink: Ink) -> String {
        let diagnosis = &self.diagnosis;
        let code = diagnosis.cause.code();
        let code = match diagnosis.cause {
            Cause::Compensating => ink.warn(code),
            cause if cause.is_normal() => ink.good(code),
            _ => ink.bad(code),
        };
        let mut text = code;
        for line in wrapped(&diagnosis.sentence, "") {
            let _ = write!(text, "\n{}", ink.bold(&line));
        }
        text.push('\n');
        let mut part = |heading: &str, items: &[(String, String)]| {
            if !items.is_empty() {
                let _ = writeln!(text, "\n{}", ink.dim(heading));
            }
            for (item, source) in items {
                let lines = wrapped(item, "  ");
                let _ = write!(text, "{}", lines.join("\n"));
                let _ = match source.as_str() {
                    "" => writeln!(text),
                    source => writeln!(text, "  {}", ink.dim(&format!("[{source}]"))),
                };
            }
        };
        let plain = |lines: &[String]| -> Vec<_> {
            let lines = lines.iter();
            lines.map(|line| (line.clone(), String::new())).collect()
        };
        let evidence = diagnosis.evidence.iter();
        let evidence = evidence.map(|it| (it.fact.clone(), it.source.clone()));
        let also = diagnosis.also.iter();
        let also = also.map(|it| {
            (
                format!("{}: {}", it.cause.code(), it.sentence),
                String::new(),
            )
        });
        part("because", &evidence.collect::<Vec<_>>());
        part("what happens next", &plain(&diagnosis.next));
        part("what you can do", &plain(&diagnosis.advice));
        part("also", &also.collect::<Vec<_>>());
        let _ = write!(
            text,
            "\n{}",
            ink.dim(&format!("read in {} ms", self.took_ms))
        );
        text
    }
}

/// `text` in lines, the first after `indent` and the others a little further in.
fn wrapped(text: &str, indent: &str) -> Vec<String> {
    let further = if indent.is_empty() { "" } else { "    " };
    let mut lines = Vec::new();
    let mut line = indent.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let width = line.chars().count() + 1 + word.chars().count();
        if !is_empty && width > WIDTH {
            lines.push(std::mem::replace(&mut line, further.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let words = "word ".repeat(30);
        let lines = wrapped(&words, "  ");
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH));
        assert!(lines[0].starts_with("  word") && lines[1].starts_with("    word"));
        let long = "x".repeat(200);
        assert_eq!(
            wrapped(&long, ""),
            [long.as_str()],
            "an id or a statement stays whole"
        );
        assert_eq!(wrapped("", ""), [""]);
    }
}
