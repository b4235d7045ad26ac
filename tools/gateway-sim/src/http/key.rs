//! Idempotency keys: one answer each, and one request at a time.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use super::answer::Answer;
use crate::store::{Books, Stored};

/// The keys whose requests are running in this process. After a restart none is: what such a
/// request did is in the books or did not happen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flights(Arc<Mutex<HashSet<String>>>);

/// Keeps a key taken until dropped.
#[derive(Debug)]
pub(crate) struct Flight {
    flights: Flights,
    key: Option<String>,
}

impl Flights {
    /// `None` if another request with this key is running. A request without a key never waits.
    pub(crate) fn enter(&self, key: Option<&str>) -> Option<Flight> {
        if let Some(key) = key {
            let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if !taken.insert(key.to_owned()) {
                return None;
            }
        }
        Some(Flight {
            flights: self.clone(),
            key: key.map(str::to_owned),
        })
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.flights
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(key);
        }
    }
}

/// A request's claim on its key's answer.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) key: Option<String>,
    pub(crate) fingerprint: String,
    pub(crate) ttl_seconds: i64,
}

impl Claim {
    /// The answer that this key already has. An expired one is as good as none.
    pub(crate) fn answered(
        &self,
        books: &Books<'_>,
        now: i64,
    ) -> Result<Option<Answer>, redb::Error> {
        let Some(key) = &self.key else {
            return Ok(None);
        };
        let stored = books.stored(key)?;
        Ok(stored
            .filter(|stored| now < stored.created.saturating_add(self.ttl_seconds))
            .map(|stored| {
                if stored.fingerprint == self.fingerprint {
                    Answer::replayed(stored)
                } else {
                    Answer::key_reused()
                }
            }))
    }

    /// Gives the key its answer, in the transaction of the effect: neither exists without the
    /// other.
    pub(crate) fn keep(
        &self,
        books: &mut Books<'_>,
        answer: Answer,
        now: i64,
    ) -> Result<Answer, redb::Error> {
        if let Some(key) = &self.key {
            let stored = Stored {
                fingerprint: self.fingerprint.clone(),
                status: answer.status.as_u16(),
                body: answer.body.clone(),
                created: now,
            };
            books.put_stored(key, &stored)?;
        }
        Ok(answer)
    }
}
