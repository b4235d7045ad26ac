//! What the person pasted: a UUID, a resource name, a command, or an idempotency key.

use uuid::Uuid;

/// What an id may be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An order.
    Order,
    /// The saga that runs it.
    Saga,
    /// Its payment.
    Payment,
    /// Its reservation.
    Reservation,
    /// An event that one of its aggregates told.
    Event,
    /// A command of its saga.
    Command,
    /// The idempotency key under which it was placed or cancelled.
    Key,
}

impl Kind {
    /// As it is written in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Saga => "saga",
            Self::Payment => "payment",
            Self::Reservation => "reservation",
            Self::Event => "event",
            Self::Command => "command",
            Self::Key => "idempotency key",
        }
    }
}

/// What was asked about, as far as its form tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A UUID, and of what if the name says so. It may also be somebody's idempotency key.
    Uuid(Uuid, Option<Kind>),
    /// `{saga_id}:{step}:{forward|backward}`.
    Command(Uuid),
    /// Anything else.
    Key,
}

/// Collection names, in singular and plural.
const COLLECTIONS: [(&str, Kind); 7] = [
    ("order", Kind::Order),
    ("saga", Kind::Saga),
    ("payment", Kind::Payment),
    ("reservation", Kind::Reservation),
    ("event", Kind::Event),
    ("command", Kind::Command),
    ("key", Kind::Key),
];

/// Reads what was pasted, and gives it back without its collection's name.
pub fn parse(text: &str) -> (Asked, &str) {
    let text = text.trim();
    let named = text.split_once('/').and_then(|(name, rest)| {
        let singular = name.strip_suffix('s').unwrap_or(name);
        let (_, kind) = COLLECTIONS.iter().find(|(known, _)| *known == singular)?;
        Some((*kind, rest))
    });
    let (kind, rest) = match named {
        Some((kind, rest)) => (Some(kind), rest),
        None => (None, text),
    };
    let asked = match (kind, rest.parse()) {
        (Some(Kind::Key), _) => Asked::Key,
        (_, Ok(id)) => Asked::Uuid(id, kind),
        (_, Err(_)) => compound(rest),
    };
    (asked, rest)
}

/// Ids that are made of another one: commands, and the keys by which the processor is asked.
fn compound(text: &str) -> Asked {
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        [saga, _, "forward" | "backward"] => saga.parse().map_or(Asked::Key, Asked::Command),
        ["charge" | "create", payment] => of_payment(payment),
        [payment, round] if is_refund_key(round) => of_payment(payment),
        _ => Asked::Key,
    }
}

fn of_payment(id: &str) -> Asked {
    id.parse()
        .map_or(Asked::Key, |id| Asked::Uuid(id, Some(Kind::Payment)))
}

fn is_refund_key(text: &str) -> bool {
    let number = text.strip_prefix('r');
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a22e25-74f5-764f-9d7f-74b1eeaa7d93";

    #[test]
    fn whatever_is_pasted_is_understood() {
        let id: Uuid = ID.parse().unwrap();
        for (text, expected) in [
            (ID.to_owned(), Asked::Uuid(id, None)),
            (format!("  {ID}\n"), Asked::Uuid(id, None)),
            (format!("orders/{ID}"), Asked::Uuid(id, Some(Kind::Order))),
            (format!("saga/{ID}"), Asked::Uuid(id, Some(Kind::Saga))),
            (format!("events/{ID}"), Asked::Uuid(id, Some(Kind::Event))),
            (format!("{ID}:charge-payment:forward"), Asked::Command(id)),
            (
                format!("commands/{ID}:reserve-stock:backward"),
                Asked::Command(id),
            ),
            (format!("charge:{ID}"), Asked::Uuid(id, Some(Kind::Payment))),
            (format!("{ID}:r2"), Asked::Uuid(id, Some(Kind::Payment))),
            (format!("keys/{ID}"), Asked::Key),
            ("tercet-cli-7".to_owned(), Asked::Key),
            (format!("{ID}:later:sideways"), Asked::Key),
            ("a/b".to_owned(), Asked::Key),
            (String::new(), Asked::Key),
        ] {
            assert_eq!(parse(&text).0, expected, "{text}");
        }
        assert_eq!(parse("keys/a/b").1, "a/b");
    }
}
