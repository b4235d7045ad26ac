//! `tercet why`: one sentence.

use clap::Args;

use super::places::Places;
use crate::{
    failure::{Exit, Failure},
    screen::Screen,
    why::{self, Cause, Report},
};

/// What to explain, and where to look.
#[derive(Debug, Args)]
#[command(after_help = "\
ID is that of an order, saga, payment, reservation, event or command, or an idempotency key: as it is, or
as orders/ID, sagas/ID, payments/ID, reservations/ID, events/ID, commands/ID, keys/KEY.

It reads the three databases, Kafka, and the services' /readyz, all at once, and never writes. Whatever
does not answer within a second is told as a fact. The variables are the services' own, so that it can run
where they run; a role that may see other roles' sessions (pg_monitor) also sees whose lock it is.

Each cause has a code: docs/why.md lists them, and what to do about each.
Exit code 3 if nobody knows the id, 5 if a database that may know it was silent.

Examples:
  tercet why 01a22e25-74f5-764f-9d7f-74b1eeaa7d93
  tercet why events/01a22e25-74f5-764f-9d7f-74b1eeaa7d93
  tercet why tercet-cli-01a22e25-74f5-764f-9d7f-74b1eeaa7d93 --json")]
pub struct Why {
    /// What to explain
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    places: Places,
}

impl Why {
    /// Does it.
    pub async fn run(self, screen: &Screen) -> Result<(), Failure> {
        let report = why::why(&self.places.into(), &self.id).await;
        screen.one(&report, Report::draw);
        let diagnosis = &report.diagnosis;
        match (diagnosis.cause, diagnosis.order_id) {
            (Cause::UnknownId, _) => Err(Failure::new(Exit::NotFound, "nobody knows that id")),
            (_, None) => Err(Failure::new(
                Exit::Unreachable,
                "whether the id exists could not be found out",
            )),
            _ => Ok(()),
        }
    }
}
