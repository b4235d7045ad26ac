//! Lines to copy while the demo stays up. Each of them works as it is printed.

use std::fmt::Write as _;

use crate::{
    screen::Ink,
    stack::{Broker, Part, Stack},
};

const SERVICE: &str = "tercet.order.v1.OrderService";

/// What the lines are made of.
#[derive(Debug, Clone)]
pub(super) struct Doors {
    /// How this program was called.
    pub(super) tercet: String,
    pub(super) order: String,
    pub(super) inventory: String,
    pub(super) payment: String,
    pub(super) gateway: String,
    pub(super) brokers: String,
    pub(super) topic_prefix: String,
    /// Whether the broker still has what was published.
    pub(super) keeps_topics: bool,
    /// URLs of the three databases: order, payment, inventory.
    pub(super) databases: [String; 3],
    pub(super) metrics: String,
    /// Where order, payment and inventory serve `/readyz`.
    pub(super) admin: [String; 3],
    pub(super) logs: String,
    /// An order to look at.
    pub(super) order_id: String,
}

impl Doors {
    pub(super) fn of(stack: &Stack, order_id: Option<&str>) -> Self {
        let databases = stack.databases();
        let patient = Part::Order(0);
        Self {
            tercet: program(),
            order: stack.address(patient).to_string(),
            inventory: stack.address(Part::Inventory).to_string(),
            payment: stack.address(Part::Payment).to_string(),
            gateway: stack.url(Part::Gateway),
            brokers: stack.brokers().to_owned(),
            topic_prefix: stack.topic_prefix().to_owned(),
            keeps_topics: stack.options().broker != Broker::Embedded,
            databases: [&databases.order, &databases.payment, &databases.inventory]
                .map(|database| plain(&database.service_url)),
            metrics: format!("http://{}/metrics", stack.admin_address(patient)),
            admin: [patient, Part::Payment, Part::Inventory]
                .map(|part| stack.admin_address(part).to_string()),
            logs: stack.directory().display().to_string(),
            order_id: order_id.unwrap_or("ORDER_ID").to_owned(),
        }
    }

    /// All lines, in the order in which somebody new wants them.
    pub(super) fn draw(&self, ink: Ink) -> String {
        let mut text = String::new();
        let mut part = |heading: &str, lines: &[String]| {
            let _ = writeln!(text, "\n{}", ink.bold(heading));
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        };
        part(
            "With the command, in another terminal",
            &self.tercet_lines(),
        );
        part("With grpcurl", &self.grpcurl_lines());
        part("Addresses", &self.addresses());
        text.trim_end().to_owned()
    }

    fn tercet_lines(&self) -> Vec<String> {
        let Self {
            tercet, order_id, ..
        } = self;
        let [order, payment, inventory] = &self.databases;
        let topics = if self.keeps_topics {
            ""
        } else {
            " --skip-topics"
        };
        vec![
            format!("export TERCET_ORDER_URL=http://{}", self.order),
            format!("export TERCET_INVENTORY_URL=http://{}", self.inventory),
            format!("export ORDER_DATABASE_URL='{order}'"),
            format!("export PAYMENT_DATABASE_URL='{payment}'"),
            format!("export INVENTORY_DATABASE_URL='{inventory}'"),
            format!("export PAYMENT_GATEWAY_URL={}", self.gateway),
            format!(
                "export KAFKA_BROKERS={} TOPIC_PREFIX={}",
                self.brokers, self.topic_prefix
            ),
            format!("export ORDER_ADMIN_ADDR={}", self.admin[0]),
            format!("export PAYMENT_ADMIN_ADDR={}", self.admin[1]),
            format!("export INVENTORY_ADMIN_ADDR={}", self.admin[2]),
            format!("{tercet} order place --customer ada --watch TEA-GREEN-100G=2 MUG-STONE=1"),
            format!(
                "{tercet} order place --customer ada --watch --card pm_card_chargeDeclined \
                 KETTLE-GLASS-1L=1"
            ),
            format!("{tercet} order list"),
            format!("{tercet} order get {order_id}"),
            format!("{tercet} saga show {order_id}"),
            format!("{tercet} why {order_id}"),
            format!("{tercet} stock list"),
            // What is younger may still be in flight.
            format!("{tercet} audit --settle 5{topics}"),
        ]
    }

    fn grpcurl_lines(&self) -> Vec<String> {
        let Self {
            order, order_id, ..
        } = self;
        let basket = r#"{"customer_id":"ada","currency":"EUR","payment_method":"pm_card_visa","lines":[{"sku":"TEA-GREEN-100G","quantity":2}]}"#;
        let invalid = r#"{"currency":"euro","lines":[{"sku":"","quantity":0}]}"#;
        let call = |metadata: &str, message: &str, method: &str| {
            format!("grpcurl -plaintext {metadata}-d '{message}' {order} {SERVICE}/{method}")
        };
        let keyed = |key: &str| format!("-H 'idempotency-key: {key}' ");
        vec![
            format!("grpcurl -plaintext {order} list"),
            call(&keyed("by-hand-1"), basket, "PlaceOrder"),
            call("", &format!(r#"{{"order_id":"{order_id}"}}"#), "GetOrder"),
            call("", r#"{"page_size":5}"#, "ListOrders"),
            // Refused: the details name every bad field.
            call(&keyed("by-hand-2"), invalid, "PlaceOrder"),
        ]
    }

    fn addresses(&self) -> Vec<String> {
        vec![
            format!("order-service      {}", self.order),
            format!("payment-service    {}", self.payment),
            format!("inventory-service  {}", self.inventory),
            format!("card processor     {}/sim/books", self.gateway),
            format!("Kafka              {}", self.brokers),
            format!("metrics            {}", self.metrics),
            format!("logs               {}", self.logs),
        ]
    }
}

/// A URL without what every client assumes anyway. In the quotes of the lines above, the rest is as safe.
fn plain(url: &str) -> String {
    let defaults = "?sslmode=prefer&statement-cache-capacity=100";
    let url = url.strip_suffix(defaults).unwrap_or(url);
    url.replace("%5F", "_")
}

/// This program as a shell finds it from here: relative if it is below the current folder.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_else(|_| "tercet".into());
    let here = std::env::current_dir().unwrap_or_default();
    let relative = path.strip_prefix(&here).unwrap_or(&path);
    relative.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doors() -> Doors {
        Doors {
            tercet: "target/debug/tercet".to_owned(),
            order: "127.0.0.1:50051".to_owned(),
            inventory: "127.0.0.1:50053".to_owned(),
            payment: "127.0.0.1:50052".to_owned(),
            gateway: "http://127.0.0.1:8090".to_owned(),
            brokers: "127.0.0.1:19092".to_owned(),
            topic_prefix: "demo".to_owned(),
            keeps_topics: false,
            databases: ["order", "payment", "inventory"].map(|name| format!("postgres://{name}")),
            metrics: "http://127.0.0.1:9101/metrics".to_owned(),
            admin: ["9101", "9102", "9103"].map(|port| format!("127.0.0.1:{port}")),
            logs: "/tmp/tercet-demo".to_owned(),
            order_id: "0193".to_owned(),
        }
    }

    #[test]
    fn the_command_lines_are_understood_by_the_command() {
        use clap::Parser as _;
        let lines = doors().tercet_lines();
        let commands = lines.iter().filter(|line| !line.starts_with("export"));
        for line in commands {
            // Which databases is said by the exports.
            let databases = [
                "--order-database=a",
                "--payment-database=b",
                "--inventory-database=c",
            ];
            let databases = databases.iter().filter(|_| line.contains(" audit "));
            let words = line.split_whitespace().chain(databases.copied());
            let parsed = crate::settings::Arguments::try_parse_from(words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn a_database_is_named_without_what_goes_without_saying() {
        let defaults = "?sslmode=prefer&statement-cache-capacity=100";
        let url = format!("postgres://order_service:order%5Fservice@h:1/d{defaults}");
        assert_eq!(plain(&url), "postgres://order_service:order_service@h:1/d");
        let url = "postgres://h/d?sslmode=require";
        assert_eq!(plain(url), url);
    }

    #[test]
    fn the_messages_for_grpcurl_are_json_of_fields_that_exist() {
        let lines = doors().grpcurl_lines();
        let messages = lines
            .iter()
            .filter_map(|line| line.split('\'').find(|t| t.starts_with('{')));
        let messages: Vec<serde_json::Value> = messages
            .map(|text| serde_json::from_str(text).unwrap())
            .collect();
        assert_eq!(messages.len(), 4);
        assert_eq!(messages[1]["order_id"], "0193");
    }
}
