//! One short function per RPC: parse, call, render.

use tercet_contracts::inventory::v1::{self as pb, inventory_service_server::InventoryService};
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
impl InventoryService for Server {
    async fn reserve_stock(
        &self,
        request: Request<pb::ReserveStockRequest>,
    ) -> Result<Response<pb::ReserveStockResponse>, Status> {
        let reserve = convert::reserve_stock(command(request)?)?;
        let ack = self.app.reserve_stock(reserve).await;
        let ack = Some(convert::ack(
            ack.map_err(|error| status::from_error(&error))?,
        ));
        Ok(Response::new(pb::ReserveStockResponse { ack }))
    }

    async fn commit_reservation(
        &self,
        request: Request<pb::CommitReservationRequest>,
    ) -> Result<Response<pb::CommitReservationResponse>, Status> {
        let (key, id) = convert::commit_reservation(&command(request)?)?;
        let ack = self.app.commit_reservation(key, id).await;
        let ack = Some(convert::ack(
            ack.map_err(|error| status::from_error(&error))?,
        ));
        Ok(Response::new(pb::CommitReservationResponse { ack }))
    }

    async fn release_reservation(
        &self,
        request: Request<pb::ReleaseReservationRequest>,
    ) -> Result<Response<pb::ReleaseReservationResponse>, Status> {
        let (key, id, order_id) = convert::release_reservation(&command(request)?)?;
        let ack = self.app.release_reservation(key, id, order_id).await;
        let ack = Some(convert::ack(
            ack.map_err(|error| status::from_error(&error))?,
        ));
        Ok(Response::new(pb::ReleaseReservationResponse { ack }))
    }

    async fn get_reservation(
        &self,
        request: Request<pb::GetReservationRequest>,
    ) -> Result<Response<pb::GetReservationResponse>, Status> {
        let id = convert::get_reservation(request.get_ref())?;
        let found = self.app.get_reservation(id).await;
        let reservation = Some(convert::reservation(
            found.map_err(|error| status::from_error(&error))?,
        ));
        Ok(Response::new(pb::GetReservationResponse { reservation }))
    }

    async fn get_stock(
        &self,
        request: Request<pb::GetStockRequest>,
    ) -> Result<Response<pb::GetStockResponse>, Status> {
        let sku = convert::get_stock(request.get_ref())?;
        let level = self
            .app
            .get_stock(sku)
            .await
            .map_err(|error| status::from_error(&error))?;
        let stock = Some(convert::stock(&level));
        Ok(Response::new(pb::GetStockResponse { stock }))
    }

    async fn list_stock(
        &self,
        request: Request<pb::ListStockRequest>,
    ) -> Result<Response<pb::ListStockResponse>, Status> {
        let (after, size) = convert::list_stock(request.get_ref())?;
        let page = self.app.list_stock(after, size).await;
        let (levels, more) = page.map_err(|error| status::from_error(&error))?;
        Ok(Response::new(convert::stock_page(&levels, more)))
    }

    async fn adjust_stock(
        &self,
        request: Request<pb::AdjustStockRequest>,
    ) -> Result<Response<pb::AdjustStockResponse>, Status> {
        let adjustment = convert::adjust_stock(request.get_ref())?;
        let level = self.app.adjust_stock(adjustment).await;
        let stock = Some(convert::stock(
            &level.map_err(|error| status::from_error(&error))?,
        ));
        Ok(Response::new(pb::AdjustStockResponse { stock }))
    }
}

/// What a command says. It comes from a service that stops waiting at some time, and must say when.
fn command<T>(request: Request<T>) -> Result<T, Status> {
    match deadline::of(&request) {
        Some(deadline) if !deadline.is_given() => Err(status::deadline_required()),
        _ => Ok(request.into_inner()),
    }
}
