//! What happened to one order, in the order it happened: time since the start, who, what.

use std::fmt::Write as _;

use serde::{Serialize, Serializer};
use time::OffsetDateTime;

use crate::screen::{Ink, Tone};

/// Who did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Who {
    /// Whoever sends the requests.
    Client,
    /// The order service.
    Order,
    /// The saga, in the order service.
    Saga,
    /// The inventory service.
    Inventory,
    /// The payment service.
    Payment,
    /// The card processor.
    Gateway,
}

impl Who {
    fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Order => "order",
            Self::Saga => "saga",
            Self::Inventory => "inventory",
            Self::Payment => "payment",
            Self::Gateway => "gateway",
        }
    }
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// When, by the clock of the database that wrote it down.
    #[serde(serialize_with = "rfc3339")]
    pub at: OffsetDateTime,
    /// Who did it.
    pub who: Who,
    /// What, in a few words.
    pub what: String,
    /// Whether it was good or bad news.
    #[serde(skip)]
    pub tone: Tone,
}

impl Moment {
    /// Something that is neither good nor bad news.
    pub fn new(at: OffsetDateTime, who: Who, what: impl Into<String>) -> Self {
        Self {
            at,
            who,
            what: what.into(),
            tone: Tone::Plain,
        }
    }

    /// The same, in the colour of `tone`.
    #[must_use]
    pub fn toned(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

/// Moments, sorted by time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Timeline {
    moments: Vec<Moment>,
}

impl Timeline {
    /// Sorts `moments`; of one instant the first given stays first.
    pub fn new(mut moments: Vec<Moment>) -> Self {
        moments.sort_by_key(|moment| moment.at);
        Self { moments }
    }

    /// What it holds.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// A line for each moment, at most `width` columns wide.
    pub fn draw(&self, ink: Ink, width: usize) -> String {
        let Some(start) = self.moments.first().map(|moment| moment.at) else {
            return ink.dim("nothing has happened yet");
        };
        let mut text = String::new();
        for moment in &self.moments {
            let offset = format!("{:+9.3} s", (moment.at - start).as_seconds_f64());
            let who = format!("{:<9}", moment.who.name());
            let mut lines = wrap(&moment.what, width.saturating_sub(INDENT)).into_iter();
            let what = toned(ink, moment.tone, &lines.next().unwrap_or_default());
            let _ = writeln!(text, "{}  {}  {what}", ink.dim(&offset), ink.name(&who));
            for line in lines {
                let _ = writeln!(text, "{:INDENT$}{}", "", toned(ink, moment.tone, &line));
            }
        }
        text.trim_end().to_owned()
    }
}

/// Columns before the words: offset, two blanks, who, two blanks.
const INDENT: usize = 11 + 2 + 9 + 2;

fn toned(ink: Ink, tone: Tone, text: &str) -> String {
    match tone {
        Tone::Good => ink.good(text),
        Tone::Bad => ink.bad(text),
        Tone::Warn => ink.warn(text),
        Tone::Dim => ink.dim(text),
        Tone::Plain | Tone::Number => text.to_owned(),
    }
}

/// Breaks `text` at blanks. A word that is too long stays whole: an id must be copyable.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn rfc3339<S: Serializer>(time: &OffsetDateTime, serializer: S) -> Result<S::Ok, S::Error> {
    time::serde::rfc3339::serialize(time, serializer)
}

#[cfg(test)]
mod tests {
    use time::{Duration, macros::datetime};

    use super::*;

    const START: OffsetDateTime = datetime!(2026-11-30 10:00:00 UTC);

    #[test]
    fn is_drawn_in_the_order_it_happened() {
        let timeline = Timeline::new(vec![
            Moment::new(
                START + Duration::milliseconds(1250),
                Who::Payment,
                "card declined",
            ),
            Moment::new(START, Who::Order, "placed"),
            Moment::new(START, Who::Saga, "started"),
        ]);
        assert_eq!(
            timeline.draw(Ink::PLAIN, 100),
            "   +0.000 s  order      placed\n   \
                +0.000 s  saga       started\n   \
                +1.250 s  payment    card declined"
        );
    }

    #[test]
    fn long_words_go_below_each_other() {
        let timeline = Timeline::new(vec![Moment::new(
            START,
            Who::Gateway,
            "did not answer in time at all",
        )]);
        assert_eq!(
            timeline.draw(Ink::PLAIN, 24 + 16),
            "   +0.000 s  gateway    did not answer\n                        in time at all"
        );
    }

    #[test]
    fn an_empty_one_says_so() {
        assert_eq!(
            Timeline::default().draw(Ink::PLAIN, 100),
            "nothing has happened yet"
        );
    }
}
