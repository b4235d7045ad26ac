//! The saga of these tests, and a world that does as it is told.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};
use tercet_saga::{Direction, Failure, Saga, Step, Verdict};
use tercet_saga_postgres::{
    Ack, BoxError, OutcomeEvent, Outgoing, Participants, ReadError, SagaRef, SendError,
};
use tokio::sync::mpsc;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Data {
    pub(crate) to: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    BookHotel,
    CancelHotel,
    BuyTicket,
    SendTicket,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Local {
    Close,
    GiveUp,
}

#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Done,
    Refused,
}

pub(crate) struct Trip;

impl Saga for Trip {
    const NAME: &'static str = "book-a-trip";
    const VERSION: u32 = 1;
    type Data = Data;
    type Command = Command;
    type Local = Local;
    type Reply = Reply;

    fn steps() -> Vec<Step<Self>> {
        vec![
            Step::compensatable("book-hotel", book_hotel).undo(|_| Command::CancelHotel),
            Step::pivot("buy-ticket", |_| Command::BuyTicket),
            Step::retriable("send-ticket", |_| Command::SendTicket),
            Step::retriable_local("close-trip", |_| Local::Close),
        ]
    }

    fn judge(reply: &Reply) -> Verdict {
        match reply {
            Reply::Done => Verdict::Succeeded,
            Reply::Refused => Verdict::Refused(Failure::new("SOLD_OUT", "nothing is left")),
        }
    }

    fn compensated(_: &Data, _: &Failure) -> Option<Local> {
        Some(Local::GiveUp)
    }
}

/// Where the saga's own code has a bug: no trip to this place can be continued.
pub(crate) const BUG: &str = "Atlantis";

fn book_hotel(trip: &Data) -> Command {
    assert_ne!(trip.to, BUG, "no hotel is there");
    Command::BookHotel
}

/// How the world answers a send.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Accepted,
    /// Never ends by itself.
    Hangs,
    Decided(&'static str),
    Fails(SendError),
}

/// A command that was sent, and what the saga's row said at that moment.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) command: Outgoing<Command>,
    pub(crate) saved_command: Option<String>,
}

type Script = HashMap<(&'static str, Direction), VecDeque<Answer>>;

#[derive(Clone)]
pub(crate) struct World {
    pool: PgPool,
    script: Arc<Mutex<Script>>,
    sent: mpsc::UnboundedSender<Sent>,
}

impl World {
    pub(crate) fn new(pool: PgPool) -> (Self, mpsc::UnboundedReceiver<Sent>) {
        let (sent, received) = mpsc::unbounded_channel();
        let script = Arc::default();
        (Self { pool, script, sent }, received)
    }

    /// The next answer to that step; without one, every send is accepted.
    pub(crate) fn answers(&self, step: &'static str, direction: Direction, answer: Answer) {
        let mut script = self.script.lock().unwrap();
        script
            .entry((step, direction))
            .or_default()
            .push_back(answer);
    }

    fn answer(&self, step: &'static str, direction: Direction) -> Answer {
        let mut script = self.script.lock().unwrap();
        let scripted = script.get_mut(&(step, direction));
        let next = scripted.and_then(VecDeque::pop_front);
        next.unwrap_or(Answer::Accepted)
    }
}

impl Participants<Trip> for World {
    async fn send(&self, command: Outgoing<Command>) -> Result<Ack, SendError> {
        let saved: Option<Option<String>> =
            sqlx::query_scalar("SELECT command_id FROM sagas WHERE id = $1")
                .bind(command.saga_id)
                .fetch_optional(&self.pool)
                .await
                .unwrap();
        let answer = self.answer(command.step, command.direction);
        let decided = outcome(command.saga_id, &command.command_id, "DONE");
        let sent = Sent {
            command,
            saved_command: saved.flatten(),
        };
        drop(self.sent.send(sent)); // a test that has ended does not look any more
        match answer {
            Answer::Accepted => Ok(Ack::Accepted),
            Answer::Hangs => std::future::pending().await,
            Answer::Decided(says) => Ok(Ack::Decided(OutcomeEvent {
                payload: says.as_bytes().to_vec(),
                ..decided
            })),
            Answer::Fails(error) => Err(error),
        }
    }

    fn read(&self, outcome: &OutcomeEvent) -> Result<Reply, ReadError> {
        match outcome.payload.as_slice() {
            b"DONE" => Ok(Reply::Done),
            b"REFUSED" => Ok(Reply::Refused),
            _ => Err(ReadError {
                what: "neither DONE nor REFUSED".to_owned(),
                source: None,
            }),
        }
    }

    async fn run_local(
        &self,
        conn: &mut PgConnection,
        saga: &SagaRef,
        data: &Data,
        local: Local,
    ) -> Result<(), BoxError> {
        let note = match local {
            Local::Close => format!("to {}", data.to),
            Local::GiveUp => "given up".to_owned(),
        };
        sqlx::query("INSERT INTO notes (trip, note) VALUES ($1, $2)")
            .bind(saga.subject_id)
            .bind(note)
            .execute(conn)
            .await?;
        Ok(())
    }
}

/// An outcome of a command, under an id of its own.
pub(crate) fn outcome(saga_id: uuid::Uuid, command_id: &str, says: &str) -> OutcomeEvent {
    OutcomeEvent {
        event_id: uuid::Uuid::now_v7(),
        event_type: "test.v1.Outcome".to_owned(),
        saga_id,
        command_id: command_id.to_owned(),
        payload: says.as_bytes().to_vec(),
        headers: std::collections::BTreeMap::new(),
    }
}
