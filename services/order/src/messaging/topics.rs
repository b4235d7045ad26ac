//! The topics' names.

/// Made by the deployment, one for each service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topics {
    /// What this service tells.
    pub order: String,
    /// Where the outcomes of commands to payment-service come.
    pub payment: String,
    /// Where the outcomes of commands to inventory-service come.
    pub inventory: String,
}

impl Topics {
    /// `{prefix}.order.events.v1` and so on.
    pub fn new(prefix: &str) -> Self {
        let topic = |service| format!("{prefix}.{service}.events.v1");
        Self {
            order: topic("order"),
            payment: topic("payment"),
            inventory: topic("inventory"),
        }
    }

    /// What this service reads.
    pub fn outcomes(&self) -> Vec<String> {
        vec![self.payment.clone(), self.inventory.clone()]
    }
}
