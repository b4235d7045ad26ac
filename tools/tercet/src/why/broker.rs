//! What Kafka says.

use std::collections::BTreeMap;

/// A broker that answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Broker {
    /// Partitions by topic; 0: the topic does not exist.
    pub topics: BTreeMap<String, usize>,
    /// The order service's consumer group.
    pub group: Option<Group>,
}

/// A consumer group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// `Stable`, `Empty`, `PreparingRebalance`, …; empty if the broker did not say.
    pub state: String,
    /// The clients in it.
    pub members: Vec<String>,
    /// Records that it has not committed, by topic.
    pub behind: BTreeMap<String, i64>,
}

impl Group {
    /// Over all topics.
    pub fn behind_total(&self) -> i64 {
        self.behind.values().sum()
    }
}
