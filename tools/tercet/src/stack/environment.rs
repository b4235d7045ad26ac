//! Which variables each process gets. They are the services' public settings: see their `--help`.

use std::{fmt::Display, time::Duration};

use super::{Databases, Part, StackOptions, Timings, ports::Ports};

/// What all processes of a stack need to know of each other.
pub(super) struct Wiring<'a> {
    pub(super) options: &'a StackOptions,
    pub(super) databases: &'a Databases,
    pub(super) brokers: &'a str,
    pub(super) ports: &'a Ports,
}

impl Wiring<'_> {
    /// The variables of `part`, those of the caller last: they win.
    pub(super) fn variables(&self, part: Part) -> Vec<(String, String)> {
        let mut variables = match part {
            Part::Broker => self.broker(),
            Part::Gateway => self.gateway(),
            Part::Inventory => self.inventory(),
            Part::Payment => self.payment(),
            Part::Order(instance) => self.order(instance),
        };
        variables.extend(self.options.extra.get(&part).cloned().unwrap_or_default());
        variables
    }

    fn broker(&self) -> Vec<(String, String)> {
        vec![
            set("TERCET_BROKER_PORT", self.ports.broker),
            set("TOPIC_PREFIX", &self.options.name),
        ]
    }

    fn gateway(&self) -> Vec<(String, String)> {
        vec![
            set("GATEWAY_ADDR", self.ports.address(Part::Gateway)),
            set(
                "GATEWAY_DATA_DIR",
                self.options.directory.join("gateway").display(),
            ),
        ]
    }

    fn inventory(&self) -> Vec<(String, String)> {
        let Timings { sweep_interval, .. } = self.options.timings;
        let mut variables = self.shared("INVENTORY", Part::Inventory);
        variables.push(set(
            "INVENTORY_SWEEP_INTERVAL_MS",
            sweep_interval.as_millis(),
        ));
        variables.push(set("INVENTORY_SEED_DEMO", self.options.seed_demo));
        variables
    }

    fn payment(&self) -> Vec<(String, String)> {
        let mut variables = self.shared("PAYMENT", Part::Payment);
        variables.push(set("PAYMENT_GATEWAY_URL", self.ports.url(Part::Gateway)));
        variables.push(set("PAYMENT_GATEWAY_KEY", "sk_test_tercet"));
        variables.extend(self.charge_answer());
        variables
    }

    /// How long the answer to a charge may take: set for the payment service, and known to the order
    /// service, which checks its own budget against it.
    fn charge_answer(&self) -> [(String, String); 2] {
        let timings = &self.options.timings;
        [
            set(
                "PAYMENT_GATEWAY_TIMEOUT_MS",
                timings.gateway_timeout.as_millis(),
            ),
            set(
                "PAYMENT_RESOLVE_AFTER_MS",
                timings.resolve_after.as_millis(),
            ),
        ]
    }

    fn order(&self, instance: usize) -> Vec<(String, String)> {
        let timings = &self.options.timings;
        let mut variables = self.shared("ORDER", Part::Order(instance));
        variables.push(set("ORDER_PAYMENT_URL", self.ports.url(Part::Payment)));
        variables.push(set("ORDER_INVENTORY_URL", self.ports.url(Part::Inventory)));
        variables.push(set("ORDER_HOLD_TTL_SECONDS", seconds(timings.hold_ttl)));
        // A deployment refuses to start with holds that may end before their order is paid. A stack
        // that shows what happens then must.
        variables.push(set("ORDER_ALLOW_SHORT_HOLD", true));
        variables.push(set(
            "ORDER_RESERVE_BUDGET_SECONDS",
            seconds(timings.reserve_budget),
        ));
        variables.push(set(
            "ORDER_CHARGE_BUDGET_SECONDS",
            seconds(timings.charge_budget),
        ));
        variables.push(set(
            "ORDER_SAGA_BUDGET_SECONDS",
            seconds(timings.saga_budget),
        ));
        variables.push(set(
            "ORDER_NO_ACK_FIRST_MS",
            timings.no_ack_first.as_millis(),
        ));
        variables.push(set("ORDER_SEED_DEMO", self.options.seed_demo));
        variables.extend(self.charge_answer());
        variables
    }

    /// What all three services have, each under its own prefix.
    fn shared(&self, prefix: &str, part: Part) -> Vec<(String, String)> {
        let database = match part {
            Part::Inventory => &self.databases.inventory,
            Part::Payment => &self.databases.payment,
            Part::Order(_) | Part::Gateway | Part::Broker => &self.databases.order,
        };
        vec![
            set(&format!("{prefix}_GRPC_ADDR"), self.ports.address(part)),
            set(
                &format!("{prefix}_ADMIN_ADDR"),
                self.ports.admin_address(part),
            ),
            set(&format!("{prefix}_DATABASE_URL"), &database.service_url),
            set(&format!("{prefix}_MIGRATE_URL"), &database.owner_url),
            set("KAFKA_BROKERS", self.brokers),
            set("TOPIC_PREFIX", &self.options.name),
            set("INSTANCE_ID", format!("{}-{part}", self.options.name)),
            set("LOG_FORMAT", "json"),
        ]
    }
}

fn set(name: &str, value: impl Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

// The services count whole seconds; less than one would mean none at all.
fn seconds(duration: Duration) -> u64 {
    duration.as_secs().max(1)
}
