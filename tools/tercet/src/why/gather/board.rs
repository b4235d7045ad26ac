//! Where the readers of the three databases tell each other what they found.

use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use uuid::Uuid;

use crate::why::id::Kind;

/// The ids that belong together, as far as a database knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) kind: Kind,
    pub(super) event: Option<Uuid>,
    pub(super) order_id: Uuid,
    pub(super) saga_id: Option<Uuid>,
    pub(super) payment_id: Option<Uuid>,
    pub(super) reservation_id: Option<Uuid>,
    /// What is ordered: whose stock is needed.
    pub(super) skus: Vec<String>,
}

impl Subject {
    /// Only the order is known.
    pub(super) fn new(kind: Kind, order_id: Uuid) -> Self {
        Self {
            kind,
            event: None,
            order_id,
            saga_id: None,
            payment_id: None,
            reservation_id: None,
            skus: Vec::new(),
        }
    }
}

/// Whose finding it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    Order,
    Payment,
    Inventory,
}

#[derive(Debug, Default)]
struct Notes {
    order: Note,
    payment: Note,
    inventory: Note,
}

#[derive(Debug, Default)]
enum Note {
    #[default]
    Looking,
    Found(Subject),
    Nothing,
}

impl Note {
    fn is_settled(&self) -> bool {
        !matches!(self, Self::Looking)
    }

    fn found(&self) -> Option<&Subject> {
        match self {
            Self::Found(subject) => Some(subject),
            Self::Looking | Self::Nothing => None,
        }
    }
}

impl Notes {
    fn place(&mut self, place: Place) -> &mut Note {
        match place {
            Place::Order => &mut self.order,
            Place::Payment => &mut self.payment,
            Place::Inventory => &mut self.inventory,
        }
    }

    /// What a participant knows: less than the order service.
    fn hint(&self) -> Option<&Subject> {
        self.payment.found().or_else(|| self.inventory.found())
    }

    fn found(&self) -> Option<&Subject> {
        self.order.found().or_else(|| self.hint())
    }
}

/// See the module. Nobody waits here beyond `until`.
#[derive(Debug)]
pub(super) struct Board {
    notes: watch::Sender<Notes>,
    until: Instant,
}

impl Board {
    pub(super) fn new(until: Instant) -> Self {
        Self {
            notes: watch::Sender::default(),
            until,
        }
    }

    pub(super) fn tell(&self, place: Place, found: Option<Subject>) {
        let note = found.map_or(Note::Nothing, Note::Found);
        self.notes.send_modify(|notes| *notes.place(place) = note);
    }

    /// Ends the others' wait for somebody who says nothing any more.
    pub(super) fn give_up(&self, place: Place) {
        self.notes.send_modify(|notes| {
            let note = notes.place(place);
            if !note.is_settled() {
                *note = Note::Nothing;
            }
        });
    }

    /// What a participant found, as soon as one has, or both have not.
    pub(super) async fn hint(&self) -> Option<Subject> {
        let known = |notes: &Notes| {
            notes.hint().is_some() || (notes.payment.is_settled() && notes.inventory.is_settled())
        };
        self.wait(known).await;
        self.notes.borrow().hint().cloned()
    }

    /// What the order service knows, or else whoever found something.
    pub(super) async fn subject(&self) -> Option<Subject> {
        self.wait(|notes| notes.order.is_settled()).await;
        self.found()
    }

    pub(super) fn found(&self) -> Option<Subject> {
        self.notes.borrow().found().cloned()
    }

    async fn wait(&self, known: impl FnMut(&Notes) -> bool) {
        let mut notes = self.notes.subscribe();
        // Too late or not, what is known by now is taken; and the sender cannot be gone.
        let _ = timeout_at(self.until, notes.wait_for(known)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn subject(saga: Option<u128>) -> Subject {
        Subject {
            saga_id: saga.map(Uuid::from_u128),
            ..Subject::new(Kind::Payment, Uuid::from_u128(1))
        }
    }

    #[tokio::test]
    async fn the_order_service_knows_best_and_a_participant_will_do() {
        let board = Board::new(Instant::now() + Duration::from_millis(400));
        board.tell(Place::Payment, Some(subject(None)));
        assert_eq!(board.hint().await, Some(subject(None)));
        board.tell(Place::Order, Some(subject(Some(2))));
        assert_eq!(board.subject().await, Some(subject(Some(2))));
    }

    #[tokio::test]
    async fn nobody_waits_for_the_silent() {
        let began = Instant::now();
        let board = Board::new(began + Duration::from_millis(50));
        board.tell(Place::Inventory, Some(subject(None)));
        assert_eq!(board.subject().await, Some(subject(None)));
        assert!(
            began.elapsed() >= Duration::from_millis(50),
            "somebody may still speak"
        );
        board.give_up(Place::Order);
        board.give_up(Place::Payment);
        board.give_up(Place::Inventory);
        assert_eq!(
            board.subject().await,
            Some(subject(None)),
            "a finding stays"
        );
    }
}
