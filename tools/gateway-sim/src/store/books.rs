//! The tables: records as JSON under their ids, which sort by time, and two indexes.

use redb::{
    ReadOnlyTable, ReadTransaction, ReadableTable, Table, TableDefinition, WriteTransaction,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::model::{Intent, Refund};

type Records = TableDefinition<'static, &'static str, &'static [u8]>;

const INTENTS: Records = TableDefinition::new("intents");
const REFUNDS: Records = TableDefinition::new("refunds");
/// `{intent}/{refund}`: the refunds of one intent lie side by side.
const REFUNDS_BY_INTENT: Records = TableDefinition::new("refunds_by_intent");
/// `{metadata.payment_id}/{intent}`: what the search looks up.
const INTENTS_BY_PAYMENT: Records = TableDefinition::new("intents_by_payment");
const KEYS: Records = TableDefinition::new("idempotency_keys");

/// Sorts after every character of an id.
const AFTER_IDS: char = '\u{10FFFF}';

/// The answer that an idempotency key stands for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// Method, path and parameters of the request that was answered.
    pub(crate) fingerprint: String,
    pub(crate) status: u16,
    pub(crate) body: serde_json::Value,
    pub(crate) created: i64,
}

/// The books inside a write transaction.
pub(crate) struct Books<'txn> {
    intents: Table<'txn, &'static str, &'static [u8]>,
    refunds: Table<'txn, &'static str, &'static [u8]>,
    refunds_by_intent: Table<'txn, &'static str, &'static [u8]>,
    intents_by_payment: Table<'txn, &'static str, &'static [u8]>,
    keys: Table<'txn, &'static str, &'static [u8]>,
}

impl<'txn> Books<'txn> {
    pub(super) fn open(transaction: &'txn WriteTransaction) -> Result<Self, redb::Error> {
        Ok(Self {
            intents: transaction.open_table(INTENTS)?,
            refunds: transaction.open_table(REFUNDS)?,
            refunds_by_intent: transaction.open_table(REFUNDS_BY_INTENT)?,
            intents_by_payment: transaction.open_table(INTENTS_BY_PAYMENT)?,
            keys: transaction.open_table(KEYS)?,
        })
    }

    pub(crate) fn intent(&self, id: &str) -> Result<Option<Intent>, redb::Error> {
        get(&self.intents, id)
    }

    pub(crate) fn intents_of_payment(&self, payment: &str) -> Result<Vec<Intent>, redb::Error> {
        intents_of_payment(&self.intents_by_payment, &self.intents, payment)
    }

    pub(crate) fn put_intent(&mut self, intent: &Intent) -> Result<(), redb::Error> {
        if let Some(payment) = intent.metadata.get("payment_id") {
            let entry = format!("{payment}/{}", intent.id);
            self.intents_by_payment
                .insert(entry.as_str(), b"".as_slice())?;
        }
        put(&mut self.intents, &intent.id, intent)
    }

    pub(crate) fn refunds_of(&self, intent: &str) -> Result<Vec<Refund>, redb::Error> {
        refunds_of(&self.refunds_by_intent, &self.refunds, intent)
    }

    pub(crate) fn put_refund(&mut self, refund: &Refund) -> Result<(), redb::Error> {
        let entry = format!("{}/{}", refund.intent, refund.id);
        self.refunds_by_intent
            .insert(entry.as_str(), b"".as_slice())?;
        put(&mut self.refunds, &refund.id, refund)
    }

    pub(crate) fn stored(&self, key: &str) -> Result<Option<Stored>, redb::Error> {
        get(&self.keys, key)
    }

    pub(crate) fn put_stored(&mut self, key: &str, answer: &Stored) -> Result<(), redb::Error> {
        put(&mut self.keys, key, answer)
    }
}

/// The books as last committed.
pub(crate) struct Reader {
    intents: ReadOnlyTable<&'static str, &'static [u8]>,
    refunds: ReadOnlyTable<&'static str, &'static [u8]>,
    refunds_by_intent: ReadOnlyTable<&'static str, &'static [u8]>,
    intents_by_payment: ReadOnlyTable<&'static str, &'static [u8]>,
}

impl Reader {
    pub(super) fn open(transaction: &ReadTransaction) -> Result<Self, redb::Error> {
        Ok(Self {
            intents: transaction.open_table(INTENTS)?,
            refunds: transaction.open_table(REFUNDS)?,
            refunds_by_intent: transaction.open_table(REFUNDS_BY_INTENT)?,
            intents_by_payment: transaction.open_table(INTENTS_BY_PAYMENT)?,
        })
    }

    pub(crate) fn intent(&self, id: &str) -> Result<Option<Intent>, redb::Error> {
        get(&self.intents, id)
    }

    pub(crate) fn refund(&self, id: &str) -> Result<Option<Refund>, redb::Error> {
        get(&self.refunds, id)
    }

    pub(crate) fn intents_of_payment(&self, payment: &str) -> Result<Vec<Intent>, redb::Error> {
        intents_of_payment(&self.intents_by_payment, &self.intents, payment)
    }

    pub(crate) fn refunds_of(&self, intent: &str) -> Result<Vec<Refund>, redb::Error> {
        refunds_of(&self.refunds_by_intent, &self.refunds, intent)
    }

    /// Newest first, from just before `before` on, at most `limit`.
    pub(crate) fn intents(
        &self,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Intent>, redb::Error> {
        newest_first(&self.intents, before, limit)
    }

    /// Newest first, from just before `before` on, at most `limit`.
    pub(crate) fn refunds(
        &self,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Refund>, redb::Error> {
        newest_first(&self.refunds, before, limit)
    }
}

fn intents_of_payment(
    index: &impl ReadableTable<&'static str, &'static [u8]>,
    intents: &impl ReadableTable<&'static str, &'static [u8]>,
    payment: &str,
) -> Result<Vec<Intent>, redb::Error> {
    ids_under(index, payment)?
        .iter()
        .filter_map(|id| get(intents, id).transpose())
        .collect()
}

/// Newest first.
fn refunds_of(
    index: &impl ReadableTable<&'static str, &'static [u8]>,
    refunds: &impl ReadableTable<&'static str, &'static [u8]>,
    intent: &str,
) -> Result<Vec<Refund>, redb::Error> {
    let ids = ids_under(index, intent)?;
    ids.iter()
        .rev()
        .filter_map(|id| get(refunds, id).transpose())
        .collect()
}

/// The second half of every index entry that begins with `first`.
fn ids_under(
    index: &impl ReadableTable<&'static str, &'static [u8]>,
    first: &str,
) -> Result<Vec<String>, redb::Error> {
    let start = format!("{first}/");
    let end = format!("{first}/{AFTER_IDS}");
    index
        .range(start.as_str()..end.as_str())?
        .map(|entry| {
            let (key, _) = entry?;
            Ok(key
                .value()
                .strip_prefix(&start)
                .unwrap_or_default()
                .to_owned())
        })
        .collect()
}

fn newest_first<T: DeserializeOwned>(
    table: &impl ReadableTable<&'static str, &'static [u8]>,
    before: Option<&str>,
    limit: usize,
) -> Result<Vec<T>, redb::Error> {
    let end = before.map_or_else(|| AFTER_IDS.to_string(), str::to_owned);
    table
        .range(..end.as_str())?
        .rev()
        .take(limit)
        .map(|entry| {
            let (_, record) = entry?;
            decode(record.value())
        })
        .collect()
}

fn get<T: DeserializeOwned>(
    table: &impl ReadableTable<&'static str, &'static [u8]>,
    id: &str,
) -> Result<Option<T>, redb::Error> {
    table
        .get(id)?
        .map(|record| decode(record.value()))
        .transpose()
}

fn put<T: Serialize>(
    table: &mut Table<'_, &'static str, &'static [u8]>,
    id: &str,
    record: &T,
) -> Result<(), redb::Error> {
    let json = serde_json::to_vec(record).map_err(|error| corrupt(&error))?;
    table.insert(id, json.as_slice())?;
    Ok(())
}

fn decode<T: DeserializeOwned>(json: &[u8]) -> Result<T, redb::Error> {
    serde_json::from_slice(json).map_err(|error| corrupt(&error))
}

fn corrupt(error: &serde_json::Error) -> redb::Error {
    redb::Error::Corrupted(error.to_string())
}
