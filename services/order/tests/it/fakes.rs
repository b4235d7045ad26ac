//! Inventory and payment, as far as the order service sees them: they ack what they are told to.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use prost::Name;
use serde::Serialize;
use tercet_contracts::{
    inventory::v1::{
        self as inventory,
        inventory_service_server::{InventoryService, InventoryServiceServer},
    },
    payment::v1::{
        self as payment,
        payment_service_server::{PaymentService, PaymentServiceServer},
    },
    saga::v1::{CommandAck, CommandContext, DecidedOutcome, command_ack::State},
};
use tercet_testbed::eventually;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status, transport::Server};
use uuid::Uuid;

/// A consumer group may have to form first.
const WITHIN: Duration = Duration::from_secs(40);

/// Both services, on one port.
#[derive(Clone, Default)]
pub struct Fakes {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    came: Vec<Came>,
    answers: HashMap<String, Answer>,
}

/// A command that came.
#[derive(Clone, Debug)]
pub struct Came {
    pub context: CommandContext,
    /// It told how long its answer is waited for.
    pub has_deadline: bool,
}

/// How commands of a step are answered. Without one: ACCEPTED, and nothing follows.
#[derive(Clone)]
pub enum Answer {
    /// DECIDED: type and payload.
    Decided(String, String),
    Refused(Status),
}

impl Answer {
    pub fn decided<E: Name + Serialize>(event: &E) -> Self {
        Self::Decided(E::full_name(), serde_json::to_string(event).unwrap())
    }
}

impl Fakes {
    pub async fn start() -> (Self, SocketAddr) {
        let fakes = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::builder()
            .add_service(InventoryServiceServer::new(fakes.clone()))
            .add_service(PaymentServiceServer::new(fakes.clone()))
            .serve_with_incoming(TcpListenerStream::new(listener));
        tokio::spawn(server);
        (fakes, address)
    }

    /// From now on, commands with this end of their id are answered so.
    pub fn answer(&self, command: &str, answer: Answer) {
        let mut inner = self.inner.lock().unwrap();
        inner.answers.insert(command.to_owned(), answer);
    }

    /// Waits for a command of this saga: `reserve-stock:forward`.
    pub async fn gets(&self, saga_id: &str, command: &str) -> Came {
        let id = format!("{saga_id}:{command}");
        eventually(&format!("command {id}"), WITHIN, async || {
            let came = self.came();
            came.into_iter().find(|came| came.context.command_id == id)
        })
        .await
    }

    pub fn came(&self) -> Vec<Came> {
        self.inner.lock().unwrap().came.clone()
    }

    fn ack<T>(
        &self,
        request: &Request<T>,
        context: Option<CommandContext>,
    ) -> Result<Option<CommandAck>, Status> {
        let context = context.expect("every command has a context");
        let key = context.command_id[37..].to_owned();
        let mut inner = self.inner.lock().unwrap();
        inner.came.push(Came {
            context: context.clone(),
            has_deadline: request.metadata().contains_key("grpc-timeout"),
        });
        match inner.answers.get(&key) {
            None => Ok(Some(CommandAck {
                state: State::Accepted.into(),
                decided: None,
            })),
            Some(Answer::Refused(status)) => Err(status.clone()),
            Some(Answer::Decided(event_type, payload)) => Ok(Some(CommandAck {
                state: State::Decided.into(),
                decided: Some(decided(&context, event_type, payload)),
            })),
        }
    }
}

fn decided(context: &CommandContext, event_type: &str, payload: &str) -> DecidedOutcome {
    let headers = [
        ("ce_sagaid", &context.saga_id),
        ("ce_commandid", &context.command_id),
    ];
    DecidedOutcome {
        // A command has one outcome, under one id.
        event_id: Uuid::new_v5(&Uuid::NAMESPACE_OID, context.command_id.as_bytes()).to_string(),
        event_type: event_type.to_owned(),
        payload: payload.to_owned(),
        headers: headers
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .into(),
    }
}

/// A command's answer is its ack alone.
macro_rules! command {
    ($self:ident, $request:ident, $($response:ident)::+) => {{
        let context = $request.get_ref().context.clone();
        let ack = $self.ack(&$request, context)?;
        Ok(Response::new($($response)::+ { ack }))
    }};
}

#[tonic::async_trait]
impl InventoryService for Fakes {
    async fn reserve_stock(
        &self,
        request: Request<inventory::ReserveStockRequest>,
    ) -> Result<Response<inventory::ReserveStockResponse>, Status> {
        command!(self, request, inventory::ReserveStockResponse)
    }

    async fn commit_reservation(
        &self,
        request: Request<inventory::CommitReservationRequest>,
    ) -> Result<Response<inventory::CommitReservationResponse>, Status> {
        command!(self, request, inventory::CommitReservationResponse)
    }

    async fn release_reservation(
        &self,
        request: Request<inventory::ReleaseReservationRequest>,
    ) -> Result<Response<inventory::ReleaseReservationResponse>, Status> {
        command!(self, request, inventory::ReleaseReservationResponse)
    }

    async fn get_reservation(
        &self,
        _: Request<inventory::GetReservationRequest>,
    ) -> Result<Response<inventory::GetReservationResponse>, Status> {
        Err(Status::unimplemented("no command"))
    }

    async fn get_stock(
        &self,
        _: Request<inventory::GetStockRequest>,
    ) -> Result<Response<inventory::GetStockResponse>, Status> {
        Err(Status::unimplemented("no command"))
    }

    async fn list_stock(
        &self,
        _: Request<inventory::ListStockRequest>,
    ) -> Result<Response<inventory::ListStockResponse>, Status> {
        Err(Status::unimplemented("no command"))
    }

    async fn adjust_stock(
        &self,
        _: Request<inventory::AdjustStockRequest>,
    ) -> Result<Response<inventory::AdjustStockResponse>, Status> {
        Err(Status::unimplemented("no command"))
    }
}

#[tonic::async_trait]
impl PaymentService for Fakes {
    async fn charge_payment(
        &self,
        request: Request<payment::ChargePaymentRequest>,
    ) -> Result<Response<payment::ChargePaymentResponse>, Status> {
        command!(self, request, payment::ChargePaymentResponse)
    }

    async fn refund_payment(
        &self,
        request: Request<payment::RefundPaymentRequest>,
    ) -> Result<Response<payment::RefundPaymentResponse>, Status> {
        command!(self, request, payment::RefundPaymentResponse)
    }

    async fn get_payment(
        &self,
        _: Request<payment::GetPaymentRequest>,
    ) -> Result<Response<payment::GetPaymentResponse>, Status> {
        Err(Status::unimplemented("no command"))
    }

    async fn list_payments(
        &self,
        _: Request<payment::ListPaymentsRequest>,
    ) -> Result<Response<payment::ListPaymentsResponse>, Status> {
        Err(Status::unimplemented("no command"))
    }
}
