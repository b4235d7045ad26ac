//! The facts as the rules look at them.

use uuid::Uuid;

use crate::why::{
    facts::{Facts, Guard, Health, Order, Outcome, Read, Saga},
    storage::{Lock, Outbox},
    words::{Service, awaited, due},
};

/// The facts, and what follows from them at once.
pub(super) struct View<'a> {
    pub(super) facts: &'a Facts,
    pub(super) order: Option<&'a Order>,
    /// The saga, while it has not ended.
    pub(super) live: Option<Live<'a>>,
}

/// A saga that has not ended.
#[derive(Clone, Copy)]
pub(super) struct Live<'a> {
    pub(super) saga: &'a Saga,
    /// Who must act.
    pub(super) service: Service,
}

impl<'a> View<'a> {
    pub(super) fn of(facts: &'a Facts) -> Self {
        let side = facts.order.answer();
        let saga = side.and_then(|side| side.saga.as_ref());
        let live = saga.filter(|saga| saga.is_live()).map(|saga| Live {
            saga,
            service: Service::of_step(&saga.step).unwrap_or(Service::Order),
        });
        Self {
            facts,
            order: side.and_then(|side| side.order.as_ref()),
            live,
        }
    }

    pub(super) fn saga(&self) -> Option<&'a Saga> {
        self.facts.order.answer()?.saga.as_ref()
    }

    /// `Order 0192…`, to begin a sentence with.
    pub(super) fn order_name(&self) -> String {
        let id = self.facts.found.as_ref().map(|found| found.order_id);
        format!("Order {}", id.unwrap_or(Uuid::nil()))
    }

    pub(super) fn health(&self, service: Service) -> &'a Read<Health> {
        let services = &self.facts.services;
        match service {
            Service::Order => &services.order,
            Service::Payment => &services.payment,
            Service::Inventory => &services.inventory,
        }
    }

    pub(super) fn outbox(&self, service: Service) -> Option<&'a Outbox> {
        let facts = self.facts;
        match service {
            Service::Order => facts.order.answer().map(|side| &side.outbox),
            Service::Payment => facts.payment.answer().map(|side| &side.outbox),
            Service::Inventory => facts.inventory.answer().map(|side| &side.outbox),
        }
    }

    pub(super) fn locks(&self, service: Service) -> &'a [Lock] {
        let facts = self.facts;
        let locks = match service {
            Service::Order => facts.order.answer().map(|side| &side.locks),
            Service::Payment => facts.payment.answer().map(|side| &side.locks),
            Service::Inventory => facts.inventory.answer().map(|side| &side.locks),
        };
        locks.map(Vec::as_slice).unwrap_or_default()
    }

    /// Why a database says nothing.
    pub(super) fn silence(&self, service: Service) -> Option<&'a str> {
        let facts = self.facts;
        match service {
            Service::Order => facts.order.silence(),
            Service::Payment => facts.payment.silence(),
            Service::Inventory => facts.inventory.silence(),
        }
    }

    fn guards(&self, service: Service) -> &'a [Guard] {
        let facts = self.facts;
        let guards = match service {
            Service::Order => None,
            Service::Payment => facts.payment.answer().map(|side| &side.guards),
            Service::Inventory => facts.inventory.answer().map(|side| &side.guards),
        };
        guards.map(Vec::as_slice).unwrap_or_default()
    }

    /// The outcome that the saga waits for, if the participant has decided already.
    pub(super) fn outcome(&self, live: Live<'a>) -> Option<&'a Outcome> {
        let guards = self.guards(live.service).iter();
        let mut ours = guards
            .filter(|guard| guard.step == live.saga.step && guard.direction == live.saga.direction);
        ours.next()?.outcome.as_ref()
    }
}

impl Live<'_> {
    /// What the order waits for, to follow its name: `waits for its payment`.
    pub(super) fn waits(&self) -> String {
        format!("waits for {}", awaited(self.saga))
    }

    /// What the order service does next, and when.
    pub(super) fn next_action(&self) -> String {
        let program = self.service.program();
        match self.saga.next_action {
            Some(when) => format!("order-service asks {program} again {}", due(when)),
            None => "order-service has set no timer".to_owned(),
        }
    }
}
