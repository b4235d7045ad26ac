//! Random lives of a saga: whatever arrives in whatever order, the promises hold.
//!
//! A small world stands in for the participants. It takes each command that is sent, may act on it,
//! may lose the ack, may answer late, twice or never, and is asked again; cancels and take-overs
//! come at any moment.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tercet_saga::{
    Definition, Direction, Effect, Failure, Input, Instance, Jitter, Judgement, SendFailure,
    Status, Timing, Transition, advance, start,
};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::trip::{Data, Local, Reply, Trip, a_trip};

/// What happens next, drawn at random.
#[derive(Clone, Debug)]
enum Event {
    /// The participant decides the outstanding command and its outcome arrives.
    Answer {
        refuse: bool,
    },
    /// The participant decides it, and the outcome is lost: a later question brings it.
    DecideSilently {
        refuse: bool,
    },
    /// An outcome seen before, or a kept one, arrives once more.
    Replay(prop::sample::Index),
    Acked,
    Failed(u8),
    Stale(i64),
    Info {
        stuck: bool,
    },
    Timer,
    Resume,
    Cancel,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => prop::bool::weighted(0.15).prop_map(|refuse| Event::Answer { refuse }),
        2 => prop::bool::weighted(0.15).prop_map(|refuse| Event::DecideSilently { refuse }),
        3 => any::<prop::sample::Index>().prop_map(Event::Replay),
        1 => Just(Event::Acked),
        3 => (0_u8..3).prop_map(Event::Failed),
        1 => (0_i64..4).prop_map(Event::Stale),
        1 => any::<bool>().prop_map(|stuck| Event::Info { stuck }),
        4 => Just(Event::Timer),
        1 => Just(Event::Resume),
        1 => Just(Event::Cancel),
    ]
}

struct World {
    definition: Definition<Trip>,
    saga: Instance<Data>,
    now: OffsetDateTime,
    /// Outcomes that participants decided: once, and kept.
    kept: BTreeMap<String, Reply>,
    /// Steps done and undone, in the order in which the saga believed or feared it.
    may_have_happened: Vec<String>,
    undone: Vec<String>,
    locals: Vec<Local>,
    pivot_succeeded: bool,
    ends: u32,
}

impl World {
    fn new() -> Self {
        let definition = Definition::<Trip>::build(Timing::default()).unwrap();
        let now = OffsetDateTime::UNIX_EPOCH;
        let begun = start(&definition, Uuid::from_u128(9), a_trip(), now);
        let mut world = Self {
            definition,
            saga: begun.instance.clone(),
            now,
            kept: BTreeMap::new(),
            may_have_happened: Vec::new(),
            undone: Vec::new(),
            locals: Vec::new(),
            pivot_succeeded: false,
            ends: 0,
        };
        world.obey(begun);
        world
    }

    /// Does what a driver does, and checks what must hold after every transition.
    fn obey(&mut self, transition: Transition<Trip>) {
        let Transition {
            instance, effects, ..
        } = transition;
        assert!(instance.status.is_live() == instance.command_id.is_some());
        assert!(instance.status.is_live() == instance.next_action_at.is_some());
        self.saga = instance;
        let last = effects.len().saturating_sub(1);
        for (at, effect) in effects.into_iter().enumerate() {
            match effect {
                Effect::Send(send) => {
                    assert_eq!(at, last, "a send comes last");
                    assert!(
                        self.saga.awaits(&send.command_id),
                        "saved before it is sent"
                    );
                    assert_eq!(send.epoch, self.saga.epoch);
                    self.sent(send.step, send.direction, send.again);
                }
                Effect::RunLocal(local) => {
                    match local {
                        Local::WriteNote => self.may_have_happened.push("write-note".to_owned()),
                        Local::EraseNote => self.undone.push("write-note".to_owned()),
                        Local::CloseTrip | Local::GiveUpTrip => {}
                    }
                    self.locals.push(local);
                }
                Effect::Finish(status) => {
                    assert_eq!(status, self.saga.status);
                    self.ends += 1;
                }
            }
        }
    }

    fn sent(&mut self, step: &str, direction: Direction, again: bool) {
        match direction {
            Direction::Forward if !again => self.may_have_happened.push(step.to_owned()),
            Direction::Backward if !again => {
                assert!(!self.pivot_succeeded, "undone after the pivot");
                self.undone.push(step.to_owned());
            }
            _ => {}
        }
    }

    fn feed(&mut self, input: &Input<Reply>) {
        let jitter = Jitter::new(0.5);
        let next = advance(
            &self.definition,
            &self.saga,
            input.clone(),
            self.now,
            jitter,
        )
        .unwrap();
        self.obey(next);
    }

    /// The same message again changes nothing.
    fn feed_twice(&mut self, input: &Input<Reply>) {
        self.feed(input);
        let before = self.saga.clone();
        let again = advance(
            &self.definition,
            &before,
            input.clone(),
            self.now,
            Jitter::NONE,
        )
        .unwrap();
        if again.judgement != Judgement::Obeyed {
            assert_eq!(again.instance, before);
            assert!(again.effects.is_empty());
        }
        if let Input::Outcome {
            reply: Reply::Done | Reply::Refused(_),
            command_id,
        } = input
            && !self.saga.awaits(command_id)
        {
            assert_eq!(again.judgement, Judgement::Late);
        }
    }

    /// A participant decides a command once; only a forward step up to the pivot may be refused.
    fn decide(&mut self, refuse: bool) -> (String, Reply) {
        let command_id = self.saga.command_id.clone().unwrap();
        let refusable =
            self.saga.direction == Direction::Forward && self.saga.step != "send-ticket";
        let reply = if refuse && refusable {
            Reply::Refused("REFUSED")
        } else {
            Reply::Done
        };
        let reply = *self.kept.entry(command_id.clone()).or_insert(reply);
        (command_id, reply)
    }

    fn outcome(&mut self, command_id: String, reply: Reply) {
        let counts = self.saga.awaits(&command_id);
        if counts && reply == Reply::Done && command_id.contains(":buy-ticket:") {
            self.pivot_succeeded = true;
        }
        if counts && matches!(reply, Reply::Refused(_)) {
            // Known to have left no effect.
            let step = self.saga.step.clone();
            self.may_have_happened.retain(|done| *done != step);
        }
        self.feed_twice(&Input::Outcome { command_id, reply });
    }

    fn happen(&mut self, event: Event) {
        let Some(command_id) = self.saga.command_id.clone() else {
            if let (Event::Replay(index), false) = (event, self.kept.is_empty()) {
                self.replay(index);
            }
            return;
        };
        match event {
            Event::Answer { refuse } => {
                let (command_id, reply) = self.decide(refuse);
                self.outcome(command_id, reply);
            }
            Event::DecideSilently { refuse } => {
                self.decide(refuse);
            }
            Event::Replay(index) if !self.kept.is_empty() => self.replay(index),
            Event::Replay(_) => {}
            Event::Acked => self.feed_twice(&Input::Acked { command_id }),
            Event::Failed(how) => {
                let kind = match how {
                    0 => SendFailure::NoAck,
                    1 => SendFailure::CannotConnect,
                    _ => SendFailure::Rejected("UNIMPLEMENTED".to_owned()),
                };
                self.feed(&Input::SendFailed { command_id, kind });
            }
            Event::Stale(highest) => self.feed_twice(&Input::StaleEpoch {
                command_id,
                highest,
            }),
            Event::Info { stuck } => {
                let reply = if stuck {
                    Reply::NeedsAPerson("LOOK")
                } else {
                    Reply::Delayed("SLOW")
                };
                self.feed(&Input::Outcome { command_id, reply });
            }
            Event::Timer => {
                self.now = self.saga.next_action_at.unwrap().max(self.now);
                self.feed_twice(&Input::Timer);
            }
            Event::Resume => self.feed(&Input::Resume),
            Event::Cancel => {
                self.feed_twice(&Input::Cancel(Failure::new("CANCELLED", "cancelled")));
            }
        }
    }

    fn replay(&mut self, index: prop::sample::Index) {
        let kept: Vec<_> = self
            .kept
            .iter()
            .map(|(id, reply)| (id.clone(), *reply))
            .collect();
        let (command_id, reply) = kept[index.index(kept.len())].clone();
        self.outcome(command_id, reply);
    }

    /// Participants come back: every command is answered from now on.
    fn calm_down(&mut self) {
        for _ in 0..20 {
            if self.saga.status.is_live() {
                let (command_id, reply) = self.decide(false);
                self.outcome(command_id, reply);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_life_ends_whole_or_undone(events in prop::collection::vec(event(), 0..60)) {
        let mut world = World::new();
        for event in events {
            world.happen(event);
        }
        world.calm_down();

        prop_assert_eq!(world.ends, 1, "it ends exactly once");
        prop_assert_eq!(&world.saga.stuck_reason, &None);
        match world.saga.status {
            Status::Completed => {
                prop_assert!(world.pivot_succeeded);
                prop_assert!(world.undone.is_empty(), "nothing is undone after the pivot");
                prop_assert_eq!(world.locals.last(), Some(&Local::CloseTrip));
            }
            Status::Compensated => {
                prop_assert!(!world.pivot_succeeded);
                let mut expected = world.may_have_happened.clone();
                expected.retain(|step| step != "check-visa"); // nothing to undo
                expected.reverse();
                prop_assert_eq!(&world.undone, &expected, "undone in exact reverse");
                prop_assert_eq!(world.locals.last(), Some(&Local::GiveUpTrip));
            }
            other => prop_assert!(false, "ended {:?}", other),
        }
    }
}
