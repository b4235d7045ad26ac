//! Who listens where. Chosen once, so that a restarted process is found where it was.

use std::net::{Ipv4Addr, SocketAddr};

use super::Part;

/// The ports of a stack, all on loopback.
#[derive(Debug, Clone)]
pub(super) struct Ports {
    pub(super) broker: u16,
    gateway: u16,
    inventory: Service,
    payment: Service,
    orders: Vec<Service>,
}

#[derive(Debug, Clone, Copy)]
struct Service {
    grpc: u16,
    admin: u16,
}

impl Ports {
    pub(super) fn choose(order_instances: usize, mut free: impl FnMut() -> u16) -> Self {
        let mut service = || Service {
            grpc: free(),
            admin: free(),
        };
        let (inventory, payment) = (service(), service());
        let orders = (0..order_instances).map(|_| service()).collect();
        Self {
            inventory,
            payment,
            orders,
            broker: free(),
            gateway: free(),
        }
    }

    /// Where a part listens: gRPC for the services, HTTP for the processor.
    pub(super) fn address(&self, part: Part) -> SocketAddr {
        loopback(match part {
            Part::Broker => self.broker,
            Part::Gateway => self.gateway,
            Part::Inventory | Part::Payment | Part::Order(_) => self.service(part).grpc,
        })
    }

    /// Where a part serves /readyz.
    pub(super) fn admin_address(&self, part: Part) -> SocketAddr {
        loopback(match part {
            Part::Broker | Part::Gateway => self.gateway,
            Part::Inventory | Part::Payment | Part::Order(_) => self.service(part).admin,
        })
    }

    pub(super) fn url(&self, part: Part) -> String {
        format!("http://{}", self.address(part))
    }

    fn service(&self, part: Part) -> Service {
        match part {
            Part::Inventory => self.inventory,
            Part::Payment => self.payment,
            Part::Order(instance) => self.orders.get(instance).copied().unwrap_or(NOWHERE),
            Part::Broker | Part::Gateway => NOWHERE,
        }
    }
}

fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Of an instance that was not asked for: nothing listens on port 0.
const NOWHERE: Service = Service { grpc: 0, admin: 0 };
