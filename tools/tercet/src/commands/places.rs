//! Where the parts of a running system are: the services' own variables, with their own defaults.

use clap::Args;

use crate::why::Sources;

/// Where to look. The defaults are those of the services.
#[derive(Debug, Args)]
pub struct Places {
    /// The order service's database
    #[arg(
        long = "order-database",
        value_name = "URL",
        env = "ORDER_DATABASE_URL",
        hide_env_values = true,
        default_value = "postgres://order_service:order_service@127.0.0.1:15432/order",
        hide_default_value = true
    )]
    order_database: String,
    /// The payment service's database
    #[arg(
        long = "payment-database",
        value_name = "URL",
        env = "PAYMENT_DATABASE_URL",
        hide_env_values = true,
        default_value = "postgres://payment_service:payment_service@127.0.0.1:15433/payment",
        hide_default_value = true
    )]
    payment_database: String,
    /// The inventory service's database
    #[arg(
        long = "inventory-database",
        value_name = "URL",
        env = "INVENTORY_DATABASE_URL",
        hide_env_values = true,
        default_value = "postgres://inventory_service:inventory_service@127.0.0.1:15434/inventory",
        hide_default_value = true
    )]
    inventory_database: String,
    /// Kafka
    #[arg(
        long,
        value_name = "HOST:PORT",
        env = "KAFKA_BROKERS",
        default_value = "127.0.0.1:19092"
    )]
    brokers: String,
    /// The first part of the topics' names
    #[arg(
        long,
        value_name = "PREFIX",
        env = "TOPIC_PREFIX",
        default_value = "tercet"
    )]
    topic_prefix: String,
    /// The card processor
    #[arg(
        long = "gateway",
        value_name = "URL",
        env = "PAYMENT_GATEWAY_URL",
        default_value = "http://127.0.0.1:8090"
    )]
    gateway_url: String,
    /// Where the order service serves /readyz
    #[arg(
        long,
        value_name = "HOST:PORT",
        env = "ORDER_ADMIN_ADDR",
        default_value = "127.0.0.1:9101"
    )]
    order_admin: String,
    /// Where the payment service serves /readyz
    #[arg(
        long,
        value_name = "HOST:PORT",
        env = "PAYMENT_ADMIN_ADDR",
        default_value = "127.0.0.1:9102"
    )]
    payment_admin: String,
    /// Where the inventory service serves /readyz
    #[arg(
        long,
        value_name = "HOST:PORT",
        env = "INVENTORY_ADMIN_ADDR",
        default_value = "127.0.0.1:9103"
    )]
    inventory_admin: String,
}

impl From<Places> for Sources {
    fn from(places: Places) -> Self {
        Self {
            order_database: places.order_database,
            payment_database: places.payment_database,
            inventory_database: places.inventory_database,
            brokers: places.brokers,
            topic_prefix: places.topic_prefix,
            gateway_url: places.gateway_url,
            order_admin: places.order_admin,
            payment_admin: places.payment_admin,
            inventory_admin: places.inventory_admin,
        }
    }
}
