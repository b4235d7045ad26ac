//! Drives a saga by hand, as a store would, and prints the timeline that people read.
//!
//! The card is being charged when the customer cancels. Nobody knows yet whether the charge took
//! effect, so it is undone too; its late answer is written down and changes nothing.
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use serde::{Deserialize, Serialize};
use tercet_saga::{
    Definition, Failure, Input, Instance, Jitter, LogEntry, Saga, Step, Timing, Verdict, advance,
    start,
};
use time::OffsetDateTime;
use uuid::Uuid;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Basket;

struct Shop;

impl Saga for Shop {
    const NAME: &'static str = "shop";
    const VERSION: u32 = 1;
    type Data = Basket;
    type Command = &'static str;
    type Local = &'static str;
    type Reply = Result<(), &'static str>;

    fn steps() -> Vec<Step<Self>> {
        vec![
            Step::compensatable("reserve-stock", |_| "reserve").undo(|_| "release"),
            Step::compensatable("charge-card", |_| "charge").undo(|_| "refund"),
            Step::pivot("ship", |_| "ship"),
        ]
    }

    fn judge(reply: &Self::Reply) -> Verdict {
        match reply {
            Ok(()) => Verdict::Succeeded,
            Err(reason) => Verdict::Refused(Failure::new(*reason, "the participant said no")),
        }
    }

    fn compensated(_: &Basket, _: &Failure) -> Option<&'static str> {
        Some("close the basket")
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let definition = Definition::<Shop>::build(Timing::default())?;
    let now = OffsetDateTime::UNIX_EPOCH;
    let begun = start(&definition, Uuid::from_u128(7), Basket, now);
    print(&begun.log);

    let mut saga = begun.instance;
    let hear = |saga: &mut Instance<Basket>, input| {
        let next = advance(&definition, saga, input, now, Jitter::NONE)?;
        print(&next.log);
        *saga = next.instance;
        Ok::<_, tercet_saga::Unrunnable>(())
    };
    let outcome = |saga: &Instance<Basket>| Input::Outcome {
        command_id: saga.command_id.clone().unwrap_or_default(),
        reply: Ok(()),
    };
    let reserved = outcome(&saga);
    hear(&mut saga, reserved)?;
    let charged = outcome(&saga);
    hear(
        &mut saga,
        Input::Cancel(Failure::new("CANCELLED_BY_CUSTOMER", "changed their mind")),
    )?;
    hear(&mut saga, charged)?; // too late: not obeyed
    let refunded = outcome(&saga);
    hear(&mut saga, refunded)?;
    let released = outcome(&saga);
    hear(&mut saga, released)?;
    println!(
        "{} because {:?}",
        saga.status,
        saga.failure.map(|failure| failure.reason)
    );
    Ok(())
}

fn print(log: &[LogEntry]) {
    for line in log {
        println!("{:<16} {:<14} {}", line.entry, line.step, line.detail);
    }
}
