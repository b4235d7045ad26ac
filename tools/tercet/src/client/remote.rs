//! One service as the command sees it.

use std::time::Duration;

use tercet_contracts::{
    IDEMPOTENCY_KEY, inventory::v1::inventory_service_client::InventoryServiceClient,
    order::v1::order_service_client::OrderServiceClient,
    payment::v1::payment_service_client::PaymentServiceClient,
    saga::v1::saga_admin_service_client::SagaAdminServiceClient,
};
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    transport::{Channel, Endpoint},
};

use crate::{client::errors, failure::Failure, settings::Global};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(5);

/// A service that can be called. Connects with the first call.
#[derive(Debug, Clone)]
pub struct Remote {
    service: &'static str,
    url: String,
    channel: Channel,
    timeout: Duration,
}

impl Remote {
    /// The order service of the command line.
    pub fn order(global: &Global) -> Result<Self, Failure> {
        Self::new("order-service", &global.order_url, global.timeout())
    }

    /// The inventory service of the command line.
    pub fn inventory(global: &Global) -> Result<Self, Failure> {
        Self::new("inventory-service", &global.inventory_url, global.timeout())
    }

    /// `service` at `url`, each call bounded by `timeout`.
    pub fn new(service: &'static str, url: &str, timeout: Duration) -> Result<Self, Failure> {
        let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|error| {
            Failure::usage(format!("{url:?} is not the URL of a gRPC server: {error}"))
                .advise("write it like http://127.0.0.1:50051")
        })?;
        let channel = endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            // Off by default: a half-open connection would hang every call.
            .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
            .keep_alive_timeout(KEEPALIVE_TIMEOUT)
            .keep_alive_while_idle(true)
            .connect_lazy();
        Ok(Self {
            service,
            url: url.to_owned(),
            channel,
            timeout,
        })
    }

    /// The stub for orders.
    pub fn orders(&self) -> OrderServiceClient<Channel> {
        OrderServiceClient::new(self.channel.clone())
    }

    /// The stub for sagas.
    pub fn sagas(&self) -> SagaAdminServiceClient<Channel> {
        SagaAdminServiceClient::new(self.channel.clone())
    }

    /// The stub for payments.
    pub fn payments(&self) -> PaymentServiceClient<Channel> {
        PaymentServiceClient::new(self.channel.clone())
    }

    /// The stub for stock.
    pub fn stock(&self) -> InventoryServiceClient<Channel> {
        InventoryServiceClient::new(self.channel.clone())
    }

    /// A call with a deadline that the server is told of (an endpoint's timeout stays at home).
    pub fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.set_timeout(self.timeout);
        request
    }

    /// The same, and the call has one effect however often it is sent under `key`.
    pub fn keyed<T>(&self, message: T, key: &str) -> Result<Request<T>, Failure> {
        let value: MetadataValue<Ascii> = key.parse().map_err(|_| {
            Failure::usage("an idempotency key is 1 to 255 visible ASCII characters")
        })?;
        let mut request = self.request(message);
        request.metadata_mut().insert(IDEMPOTENCY_KEY, value);
        Ok(request)
    }

    /// What a failed call of `method` means to the caller.
    pub fn failure(&self, method: &str, status: &Status) -> Failure {
        errors::explain(self.service, &self.url, method, status)
    }
}
