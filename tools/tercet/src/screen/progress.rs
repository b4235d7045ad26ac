//! Long work: a spinner while a person watches, one line when it is done, nothing in between elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::screen::Screen;

const REDRAW_MS: u64 = 100;

/// A piece of work that is shown until it is done.
#[derive(Debug)]
pub struct Progress {
    screen: Screen,
    bar: Option<ProgressBar>,
    what: String,
    started: Instant,
}

impl Progress {
    pub(super) fn start(screen: Screen, what: &str) -> Self {
        let bar = screen.is_live().then(|| spinner(what));
        Self {
            screen,
            bar,
            what: what.to_owned(),
            started: Instant::now(),
        }
    }

    /// Says what is being done right now.
    pub fn note(&self, detail: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!(
                "{}  {}",
                self.what,
                self.screen.talk_ink().dim(detail)
            ));
        }
    }

    /// It is done: one line with what came out and how long it took.
    pub fn done(self, result: &str) {
        let ink = self.screen.talk_ink();
        let took = seconds(self.started.elapsed());
        let line = format!(
            "{} {:<34}{:>8}  {}",
            ink.good("✓"),
            self.what,
            took,
            ink.dim(result)
        );
        self.end(line.trim_end());
    }

    /// It went wrong; the error itself is told elsewhere.
    pub fn failed(self) {
        let ink = self.screen.talk_ink();
        let took = seconds(self.started.elapsed());
        let line = format!("{} {:<34}{:>8}", ink.bad("✗"), self.what, took);
        self.end(&line);
    }

    fn end(&self, line: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.screen.say(line);
    }
}

impl Drop for Progress {
    // An early return must not leave a spinner behind.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn spinner(what: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(what.to_owned());
    // The template is a constant that a test parses; the default look is the fallback.
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(REDRAW_MS));
    bar
}

const TEMPLATE: &str = "{spinner:.cyan} {msg}  {elapsed}";

/// `0.4 s`.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        ProgressStyle::with_template(TEMPLATE).unwrap();
    }
}
