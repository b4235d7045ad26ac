//! One short function per RPC: parse, call, render.

use tercet_contracts::payment::v1::{self as pb, payment_service_server::PaymentService};
use tercet_service_kit::server::deadline;
use tonic::{Request, Response, Status};

use super::{convert, status};
use crate::app::App;

/// The service's RPCs.
#[derive(Debug, Clone)]
pub struct Server {
    app: App,
}

impl Server {
    pub fn new(app: App) -> Self {
        Self { app }
    }
}

#[tonic::async_trait]
impl PaymentService for Server {
    async fn charge_payment(
        &self,
        request: Request<pb::ChargePaymentRequest>,
    ) -> Result<Response<pb::ChargePaymentResponse>, Status> {
        let command = convert::charge_payment(&command(request)?)?;
        let ack = self.app.charge_payment(command).await;
        let ack = Some(convert::ack(
            ack.map_err(|error| status::from_error(&error))?,
        ));
        Ok(Response::new(pb::ChargePaymentResponse { ack }))
    }

    async fn refund_payment(
        &self,
        request: Request<pb::RefundPaymentRequest>,
    ) -> Result<Response<pb::RefundPaymentResponse>, Status> {
        let command = convert::refund_payment(&command(request)?)?;
        let ack = self.app.refund_payment(command).await;
        let ack = Some(convert::ack(
            ack.map_err(|error| status::from_error(&error))?,
        ));
        Ok(Response::new(pb::RefundPaymentResponse { ack }))
    }

    async fn get_payment(
        &self,
        request: Request<pb::GetPaymentRequest>,
    ) -> Result<Response<pb::GetPaymentResponse>, Status> {
        let id = convert::get_payment(request.get_ref())?;
        let found = self.app.get_payment(id).await;
        let payment = Some(convert::payment(
            found.map_err(|error| status::from_error(&error))?,
        ));
        Ok(Response::new(pb::GetPaymentResponse { payment }))
    }

    async fn list_payments(
        &self,
        request: Request<pb::ListPaymentsRequest>,
    ) -> Result<Response<pb::ListPaymentsResponse>, Status> {
        let query = convert::list_payments(request.get_ref())?;
        let found = self
            .app
            .list_payments(query.status, query.after, query.limit)
            .await;
        let (payments, more) = found.map_err(|error| status::from_error(&error))?;
        Ok(Response::new(convert::page(payments, more, query.status)))
    }
}

/// What a command says. It comes from a service that stops waiting at some time, and must say when.
fn command<T>(request: Request<T>) -> Result<T, Status> {
    match deadline::of(&request) {
        Some(deadline) if !deadline.is_given() => Err(status::deadline_required()),
        _ => Ok(request.into_inner()),
    }
}
