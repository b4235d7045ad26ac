//! The demo: eight orders, one for each ending, placed in the real system, drawn and judged.
//!
//! `scenarios` says how each order goes and how it must end, `scene` is what a scenario can do,
//! `ending` compares what must be with what is found (`facts`), `report` draws it, and `run`
//! holds it together. Scenarios run side by side: each looks only at its own order, and no two need
//! the same piece of stock.

mod backends;
mod check;
mod ending;
mod facts;
mod keep;
mod report;
mod run;
mod scenarios;
mod scene;
mod wait;
mod world;

pub use backends::{BrokerKind, Wanted};
pub use check::Check;
pub use report::{Addresses, Report, Told};
pub use run::run;
