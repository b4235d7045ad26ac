//! Everything the command prints goes through one [`Screen`]: data on stdout, talk on stderr.

mod ink;
mod output;
mod progress;
mod table;

pub use ink::Ink;
pub use output::Screen;
pub use progress::Progress;
pub(crate) use progress::seconds;
pub use table::{Record, Tone, table};
