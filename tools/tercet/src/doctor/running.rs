//! The system that runs now: databases, Kafka, the processor, and the services.

use std::{fmt, str::FromStr as _};

use sqlx::postgres::PgConnectOptions;

use super::{
    Check, Setup, Way,
    databases::{self, Database},
    gateway, kafka,
};
use crate::why::{
    broker::Broker,
    facts::Health,
    gather::{self, READ_WITHIN},
};

/// A part that listens somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Database(&'static str),
    Kafka,
    Gateway,
    Service(&'static str),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(service) => write!(f, "the {service} database"),
            Self::Kafka => f.write_str("Kafka"),
            Self::Gateway => f.write_str("the card processor"),
            Self::Service(service) => write!(f, "{service}-service"),
        }
    }
}

const SERVICES: [&str; 3] = ["order", "payment", "inventory"];

/// What was found.
#[derive(Debug)]
pub(super) struct System {
    databases: Vec<Database>,
    broker: Result<Broker, String>,
    gateway: Result<(), String>,
    services: Vec<(&'static str, Result<Health, String>)>,
}

/// Looks at all parts at once.
pub(super) async fn look(setup: &Setup) -> System {
    let places = &setup.places;
    let [order, payment, inventory] = &setup.migrate_urls;
    let databases = async {
        let (order, payment, inventory) = tokio::join!(
            databases::look("order", &places.order_database, order),
            databases::look("payment", &places.payment_database, payment),
            databases::look("inventory", &places.inventory_database, inventory),
        );
        vec![order, payment, inventory]
    };
    let (databases, doors, gateway) = tokio::join!(
        databases,
        gather::doors_of(places, READ_WITHIN),
        gateway::look(&places.gateway_url)
    );
    let services = SERVICES
        .into_iter()
        .zip([doors.order, doors.payment, doors.inventory]);
    System {
        databases,
        broker: doors.broker,
        gateway: gateway.and(doors.gateway),
        services: services.collect(),
    }
}

impl System {
    /// Whether anything of it runs. A server that answers and is not ours does not count.
    pub(super) fn is_up(&self) -> bool {
        let databases = self.databases.iter().any(|database| database.state.is_ok());
        databases || self.services.iter().any(|(_, health)| health.is_ok())
    }

    /// Whether a part answers as itself.
    pub(super) fn answers(&self, part: Part) -> bool {
        match part {
            Part::Database(service) => {
                let mut all = self.databases.iter();
                // One that refuses us is a PostgreSQL all the same.
                all.any(|database| database.service == service && database.is_postgres)
            }
            Part::Kafka => self.broker.is_ok(),
            Part::Gateway => self.gateway.is_ok(),
            Part::Service(service) => {
                let mut all = self.services.iter();
                all.any(|(name, health)| *name == service && health.is_ok())
            }
        }
    }

    /// Where each part is, as `host:port`, and the variable that says so.
    pub(super) fn addresses(setup: &Setup) -> Vec<(Part, String, String)> {
        let places = &setup.places;
        let admin = [
            &places.order_admin,
            &places.payment_admin,
            &places.inventory_admin,
        ];
        let mut addresses = Vec::new();
        for (service, (grpc, admin)) in SERVICES.iter().zip(setup.grpc.iter().zip(admin)) {
            let prefix = service.to_uppercase();
            let part = Part::Service(service);
            addresses.push((part, grpc.clone(), format!("{prefix}_GRPC_ADDR")));
            addresses.push((part, admin.clone(), format!("{prefix}_ADMIN_ADDR")));
        }
        let urls = [
            &places.order_database,
            &places.payment_database,
            &places.inventory_database,
        ];
        for (service, url) in SERVICES.iter().zip(urls) {
            let Ok(options) = PgConnectOptions::from_str(url) else {
                continue;
            };
            let address = format!("{}:{}", options.get_host(), options.get_port());
            let variable = format!("{}_DATABASE_URL", service.to_uppercase());
            addresses.push((Part::Database(service), address, variable));
        }
        let brokers = places.brokers.split(',').map(str::trim);
        addresses.extend(brokers.map(|broker| {
            let variable = "KAFKA_BROKERS".to_owned();
            (Part::Kafka, broker.to_owned(), variable)
        }));
        let gateway = places.gateway_url.trim_start_matches("http://");
        let gateway = gateway.trim_end_matches('/').to_owned();
        addresses.push((Part::Gateway, gateway, "PAYMENT_GATEWAY_URL".to_owned()));
        addresses
    }

    /// What there is to say about it.
    pub(super) fn checks(&self, setup: &Setup) -> Vec<Check> {
        if !self.is_up() && setup.ways.is_empty() {
            let found = "nothing: no database and no service answers where it would be";
            return vec![Check::ok(Way::Running, "system", found)];
        }
        let databases = self.databases.iter();
        let mut checks: Vec<Check> = databases
            .flat_map(|database| database.checks(setup.skew_max))
            .collect();
        let places = &setup.places;
        checks.extend(kafka::checks(
            &places.brokers,
            &places.topic_prefix,
            &self.broker,
        ));
        checks.push(match &self.gateway {
            Ok(()) => Check::ok(Way::Running, "card processor", &places.gateway_url),
            Err(why) => Check::problem(
                Way::Running,
                "card processor",
                format!("does not answer: {why}"),
                "start it, or correct PAYMENT_GATEWAY_URL",
            ),
        });
        checks.extend(
            self.services
                .iter()
                .map(|(service, health)| readiness(service, health)),
        );
        checks
    }
}

fn readiness(service: &str, health: &Result<Health, String>) -> Check {
    let (way, name) = (Way::Running, format!("{service}-service"));
    match health {
        Ok(health) if health.lacks.is_empty() => Check::ok(way, name, "ready"),
        Ok(health) => Check::problem(
            way,
            name,
            format!("not ready: {}", health.lacks.join("; ")),
            "mend what it lacks; it goes on by itself",
        ),
        Err(why) => Check::problem(
            way,
            name,
            format!("does not answer: {why}"),
            format!("start it, or correct {}_ADMIN_ADDR", service.to_uppercase()),
        ),
    }
}
